"""Facts of JAX6xx: dtypes of values, of constants and of whole trees."""
