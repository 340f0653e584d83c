"""Tests of the engine and of what it demands of a dispatcher and a predictor."""
