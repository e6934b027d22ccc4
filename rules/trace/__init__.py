"""JAX2xx: Python that does something else inside a trace than it seems to."""
