"""Executors: how programs that each carry out one task are run, here or on a cluster."""
