"""Dispatching by searching the order in which list scheduling takes the jobs.

`order_kernels` has the compiled search, `dispatcher` what a round makes of it, `level` what a ratio
of sums has come to so far.
"""
