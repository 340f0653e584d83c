"""Presets of the trace source `table`: public data sets with known columns."""
