"""Jit boundaries: made, described, entered, called and crossed."""
