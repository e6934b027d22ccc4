"""Facts of JAX4xx: what the host keeps."""
