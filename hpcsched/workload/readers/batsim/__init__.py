"""Workloads of the Batsim simulator."""
