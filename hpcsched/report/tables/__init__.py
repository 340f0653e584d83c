"""Tables of runs: comparisons, accounts and statistics as text, Markdown, LaTeX, CSV and JSON."""
