"""Calls: of the project, of Python, of libraries."""
