"""Explanations: why a job of a run started when it did."""
