"""Profiler captures and compiler dumps: what was planned, what was live, and why it did not fit.

Standard library only. jax, protobuf and XProf are neither imported nor needed, and nothing is ever written beside
a capture.
"""
