"""Reports of runs: comparisons, tables, figures and the HTML page."""
