"""The rules. The engine finds them by walking this package and imports none by name."""
