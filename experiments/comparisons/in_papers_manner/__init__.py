"""Shows tables and figures of PCP'20, the thesis of 2020 and CP 2021, replayed in their manner.

The runs are those of in_papers_manner.yaml, and of in_papers_manner_gaia.yaml. `papers` has what
each paper prints, `spread` the means and standard deviations of a run, `beside_lists` its decisions
beside those of list scheduling; `table` and `error_bars` show them.
"""
