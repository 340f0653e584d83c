"""Experiments: matrices of scenarios, run cell by cell, with what is complete kept."""
