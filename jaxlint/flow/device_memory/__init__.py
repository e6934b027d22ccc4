"""Facts of JAX3xx: what takes memory of the device."""
