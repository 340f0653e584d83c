"""Audit: checks of a run against its trace and system.

It shares no code with the simulator, with its bookkeeping of free resources or with the metrics, so
that it sees their defects. An import contract in `pyproject.toml` holds it to that.
"""
