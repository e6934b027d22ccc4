"""Shapes, sizes and lengths: what they are, and whether they are the same each time."""
