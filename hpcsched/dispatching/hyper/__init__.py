"""A dispatcher that tunes itself: it replays the past under a portfolio of others.

`past` remembers jobs, `scores` measures the objective of a replay and chooses the next member, and
`dispatcher` puts them together, with the protocol of rehearsals, which replay jobs.
"""
