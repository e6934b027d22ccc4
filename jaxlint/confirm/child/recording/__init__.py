"""The recorder: what a program traces and compiles, noted while it runs as it always does.

Two layers, neither of which touches a call that hits jit's cache:

A. `events`: a listener of jax.monitoring (public) runs inside the call that traces or compiles, so that a walk up
   the Python stack finds the user's line. It sees everything that is compiled, eager operations included.
B. `patches` and `shims`: the functions that make jit boundaries (`jax.jit`, `eqx.filter_jit`, ...) are replaced
   before user code runs by ones that hand the real maker a shim of the user's function. What is returned is the
   maker's own object. The shim's body runs only while the function is traced, and sees the arguments as the trace
   does: tracers where they are traced, Python values where they are static.

`start` puts both in place, `journal` says what is written.
"""
