"""Presets of the trace source `table`: public data sets whose columns are known."""
