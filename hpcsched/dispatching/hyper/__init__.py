"""Dispatchers that choose from a portfolio of others: `hyper` and `cp-portfolio`.

`hyper_dispatcher` replays the past under its members, measures the objective of each replay and
chooses the next member. `cp_portfolio` chooses by features of the problem and by how each CP
dispatcher did lately.
"""
