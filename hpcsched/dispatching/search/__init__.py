"""Dispatching by searching the order in which list scheduling takes the jobs.

Compiled: `curve_kernels`, what jobs cost by when they start; `segment_kernels`, jobs planned one
after another; `order_kernels`, the search. `level` is what a ratio of sums has come to so far, and
`dispatcher` what a round makes of it all.
"""
