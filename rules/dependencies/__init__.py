"""JAX7xx: dependency files."""
