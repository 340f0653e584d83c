"""Measures of how well users and machine were served: one function each."""
