"""JAX6xx: precision."""
