"""Transforms of traces: one module for each."""
