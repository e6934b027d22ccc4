"""A finding is a claim; `jaxlint check --confirm` tests it.

`child/` is all that runs in the user's interpreter, and needs only the standard library and the user's jax.
Everything else here runs in ours and never imports jax or user code.
"""


class ConfirmError(Exception):
    """Nothing can be confirmed, whatever the findings. The text is one line that says what to do."""
