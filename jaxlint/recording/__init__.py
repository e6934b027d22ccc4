"""`jaxlint record`: run a program as it is, and say what it traced and compiled.

`launch` starts the program with the recorder of `jaxlint/confirm/child/recording` in its Python processes,
`history` reads what that has written, `changes` says why something was traced again, `text` shows it.
"""
