"""Dispatchers that choose from a portfolio of others: `hyper` and `cp-portfolio`.

`hyper` replays the past under its members: `past` remembers jobs, `scores` measures the objective
of a replay and chooses the next member, and `dispatcher` puts them together, with the protocol of
rehearsals, which replay jobs. `cp_portfolio` chooses by `instance_features` and by how each CP
dispatcher did lately.
"""
