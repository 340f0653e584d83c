"""The papers' models on several solvers."""
