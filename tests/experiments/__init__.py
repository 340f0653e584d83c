"""Published comparisons can be rerun, broken off, gone on with, and shown."""
