"""Tests of what-if studies."""
