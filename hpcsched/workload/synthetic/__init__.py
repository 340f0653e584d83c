"""Synthetic workloads: seeded, streaming, and the same on every machine."""
