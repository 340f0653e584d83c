"""Comparisons of dispatchers, declared as data and rerun by one command each.

A folder for each, beside the file that declares it. What they share is here: a `cell` is one run,
`execution` runs cells, `declaring` reads declarations, `block` fills in pages of the documentation.
"""
