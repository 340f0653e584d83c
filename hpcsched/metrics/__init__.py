"""Metrics: figures of a run, one function each."""
