"""JAX1xx: what makes JAX trace and compile again."""
