"""Tests of dispatching by constraint programming."""
