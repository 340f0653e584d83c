"""Tests of the dispatchers that follow rules."""
