"""Placement of tasks that share GPUs: what was published at USENIX ATC 2023, and ours beside it."""
