"""Parallel Workloads Archive: a catalogue of its logs, and their download."""
