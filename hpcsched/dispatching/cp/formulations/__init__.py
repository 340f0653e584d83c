"""Formulations: models of good plans in CPMpy, for any solver."""
