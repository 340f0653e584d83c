"""Tests of the dispatcher that tunes itself."""
