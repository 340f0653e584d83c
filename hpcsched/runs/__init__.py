"""Runs: a scenario assembled into parts, replayed, and kept in a run directory or in memory."""
