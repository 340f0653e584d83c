"""Figures of runs: the data of a figure, and its drawing with Matplotlib."""
