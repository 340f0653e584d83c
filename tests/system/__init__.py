"""Tests of what is free on a system, and where jobs are placed."""
