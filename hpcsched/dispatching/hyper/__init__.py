"""A dispatcher that tunes itself: it replays the past under a portfolio of others.

`past` remembers jobs, `rehearsal` is the protocol of what replays them, `scores` measures the
objective of a replay, `choosing` decides what is moved to, and `dispatcher` puts them together.
"""
