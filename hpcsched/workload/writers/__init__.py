"""Trace writers: one module for each format."""
