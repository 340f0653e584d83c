"""Tests of jobs and trace sources."""
