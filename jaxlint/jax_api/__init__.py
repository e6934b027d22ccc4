"""Facts about JAX and its neighbours, as data: which call is a jit boundary, what traces which argument,
what has a data-dependent shape, what initialises the backend. The analysis asks `categories.category`.
"""
