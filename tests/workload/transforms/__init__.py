"""Tests of what changes a trace on its way to the simulator."""
