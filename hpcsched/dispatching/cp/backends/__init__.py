"""Backends: one adapter each for a solver that CPMpy knows.

Everything that differs between solvers is here: names of options, hints, decision strategies,
limits, and the range of numbers that a solver can work with.
"""
