"""Executors: programs that run tasks, on this machine or on a cluster."""
