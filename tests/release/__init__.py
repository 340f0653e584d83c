"""Tests of a release: distributions, change notes, and files that state the version."""
