"""Results of a run: the run directory, its tables, manifest and summary, written and read."""
