"""Logs of the Parallel Workloads Archive: a catalogue, and how they are brought here."""
