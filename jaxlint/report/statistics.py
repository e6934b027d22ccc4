"""How often each code was found, most often first."""

from __future__ import annotations

import json
from collections import Counter
from typing import TextIO

from jaxlint.report.json import write_array
from jaxlint.report.run import Run


def write(run: Run, output_format: str, stream: TextIO) -> None:
    """Write a line per code, or an object per code for the formats json and jsonl."""
    counts = Counter((finding.code, finding.slug) for finding in run.findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    records = [{"code": code, "slug": slug, "count": count} for (code, slug), count in ordered]
    if output_format == "json":
        write_array(records, stream)
    elif output_format == "jsonl":
        stream.writelines(json.dumps(item) + "\n" for item in records)
    else:
        width = len(str(ordered[0][1])) if ordered else 0
        stream.writelines(f"{count:>{width}}  {code}  {slug}\n" for (code, slug), count in ordered)
