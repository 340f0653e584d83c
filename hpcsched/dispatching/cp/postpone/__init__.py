"""The papers' search, schedule or postpone, as compiled code over the data of the formulations.

Source: Galleguillos, thesis 2020, section 2.2.2 (algorithm 1, after Le Pape et al.) and section 6.3
(algorithm 4); Galleguillos et al., PCP'20 preprint, section 3, and CP 2021, section 3.

`search_tables` holds the data of the search, which `preparing` makes of a model's. `fit_kernels`,
`position_kernels` and `placing_kernels` find what fits and where, `bound_kernels` lower bounds of a
plan's cost; `search_kernels` go through the tree, and `postpone_search` does so within limits.

Names of parameters that are the same everywhere: `problem` and `search`, the tables; `j`, a job;
`n`, a node; `r`, a resource type; `first` or `level`, a level of the tree; `time`, in steps.
"""
