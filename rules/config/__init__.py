"""JAX5xx: configuration, and what an import does."""
