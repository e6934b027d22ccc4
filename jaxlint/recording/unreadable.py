"""What is raised for a file that is no record. Apart, because every run of `check` knows of it."""


class Unreadable(Exception):
    """A file is no record. The text is one line."""
