"""The run directory: writing it as a simulation runs, reading it, and auditing it."""
