"""Stored outputs of scenarios: results that a change of the code must not move."""
