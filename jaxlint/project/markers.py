"""The words without which no comment in a source concerns us: a file that lacks them is not tokenized."""

SUPPRESSION = "jaxlint:"
NOQA = "noqa"
