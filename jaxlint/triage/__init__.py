"""From what a dead run has left in its logs back to the family of its fault, and to the line."""
