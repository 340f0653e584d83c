"""Trace sources: one module or folder for each format."""
