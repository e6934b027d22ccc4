"""Facts of JAX5xx: settings, and processes that are started."""
