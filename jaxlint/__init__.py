"""jaxlint: a static analyser for JAX code that proves what it says."""

__version__ = "0.1.0"
