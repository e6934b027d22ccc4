"""JAX4xx: memory on the host that grows."""
