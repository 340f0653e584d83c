"""Published comparisons, declared as data and rerun by one command each."""
