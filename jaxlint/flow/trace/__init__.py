"""Facts of JAX2xx: what a trace cannot do, or keeps."""
