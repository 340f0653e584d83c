"""Fuzzing of what reads files, by coverage."""
