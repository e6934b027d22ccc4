"""Statements, and the definitions that they make."""
