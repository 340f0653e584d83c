"""Formulations: each says what a good plan is, in CPMpy, for any solver."""
