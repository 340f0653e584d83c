"""Monitoring: the state of a run in progress, as a file, a terminal view and log lines."""
