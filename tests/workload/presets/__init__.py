"""Presets of known data sets."""
