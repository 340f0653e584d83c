"""Tests of dispatching by searching orders."""
