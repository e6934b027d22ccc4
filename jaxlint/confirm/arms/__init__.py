"""How claims are measured: one module for each kind of measurement."""
