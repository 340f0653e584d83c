"""Dispatching by searching the order in which list scheduling takes the jobs.

The core searches (`hpcsched/cpp/planning/order_search.hpp`). `surrogate_objective` changes an
objective in view of jobs that are yet to come, and `order_search` looks for a better plan of a
round (see `planning`).
"""
