"""Replays of real traces."""
