"""Which outputs are new versions of parameters, told from the program alone."""

from __future__ import annotations

import pytest

from jaxlint.capture import donation, hlo_text

HEAD = """HloModule jit_step, is_scheduled=true

%scaled (a: f32[512,1024], c: f32[]) -> f32[512,1024] {
  %a = f32[512,1024]{1,0} parameter(0)
  %c = f32[] parameter(1)
  %filled = f32[512,1024]{1,0} broadcast(%c), dimensions={}
  ROOT %product = f32[512,1024]{1,0} multiply(%a, %filled)
}

ENTRY %main (p: f32[512,1024], x: f32[512,1024], r: f32[]) -> f32[512,1024] {
  %p = f32[512,1024]{1,0} parameter(0), metadata={op_name="p"}
  %x = f32[512,1024]{1,0} parameter(1), metadata={op_name="x"}
  %r = f32[] parameter(2), metadata={op_name="rate"}
  %little = f32[] constant(0.0001)
  %most = f32[] constant(0.999)
  %littles = f32[512,1024]{1,0} broadcast(%little), dimensions={}
  %mosts = f32[512,1024]{1,0} broadcast(%most), dimensions={}
  %rates = f32[512,1024]{1,0} broadcast(%r), dimensions={}
  %g = f32[512,1024]{1,0} custom-call(%x), metadata={op_name="jit(step)/transpose(jvp())/dot_general"}
  %step = f32[512,1024]{1,0} multiply(%g, %littles)
"""


@pytest.mark.parametrize(
    ("body", "updated"),
    [
        ("ROOT %out = f32[512,1024]{1,0} subtract(%p, %step)", True),
        ("%d = f32[512,1024]{1,0} multiply(%p, %mosts)\n  ROOT %out = f32[512,1024]{1,0} add(%d, %step)", True),
        ("%d = f32[512,1024]{1,0} fusion(%p, %most), kind=kLoop, calls=%scaled\n"
         "  ROOT %out = f32[512,1024]{1,0} add(%d, %step)", True),
        ("%n = f32[512,1024]{1,0} subtract(%p, %step)\n  %ok = pred[512,1024]{1,0} custom-call(%g)\n"
         "  ROOT %out = f32[512,1024]{1,0} select(%ok, %n, %p)", True),
        # Gradients: with weight decay, with a decay that is given, times the parameter, clipped by its size.
        ("%d = f32[512,1024]{1,0} multiply(%p, %littles)\n  ROOT %out = f32[512,1024]{1,0} add(%g, %d)", False),
        ("%d = f32[512,1024]{1,0} fusion(%p, %little), kind=kLoop, calls=%scaled\n"
         "  ROOT %out = f32[512,1024]{1,0} add(%g, %d)", False),
        ("%d = f32[512,1024]{1,0} multiply(%p, %rates)\n  ROOT %out = f32[512,1024]{1,0} add(%g, %d)", False),
        ("ROOT %out = f32[512,1024]{1,0} multiply(%g, %p)", False),
        ("ROOT %out = f32[512,1024]{1,0} divide(%g, %p)", False),
        ("ROOT %out = f32[512,1024]{1,0} subtract(%g, %p)", False),
        ("%s = f32[512,1024]{1,0} abs(%p)\n  ROOT %out = f32[512,1024]{1,0} minimum(%g, %s)", False),
    ],
)  # fmt: skip
def test_an_output_is_a_new_version_of_what_most_of_it_is(body, updated):
    found = donation.updates(hlo_text.read(f"{HEAD}  {body}\n}}\n"))
    assert [update.name for update in found] == (["p"] if updated else [])
