"""JAX3xx: memory on the device that need not be taken."""
