"""Metrics of a finished run, from the tables of its jobs and rounds."""
