"""Facts of JAX1xx: what makes a boundary trace again, or answer with an old trace."""
