"""Statistics of a trace: counts, moments and distributions, from one pass over its jobs."""
