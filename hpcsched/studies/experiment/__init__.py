"""Experiments: matrices of scenarios, run cell by cell; complete runs are kept."""
