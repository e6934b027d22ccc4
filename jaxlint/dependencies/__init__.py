"""Dependency files: which there are, what each says, and what the wheels of jax and torch themselves require.

One small module for each format turns a file into `DependencySet` facts, one for each environment that can be
made from it. `releases` answers from the table of wheels that scripts/refresh_dependency_tables.py makes.
"""
