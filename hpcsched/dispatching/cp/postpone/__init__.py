"""The papers' search, schedule or postpone, as compiled code over the data of the formulations.

Source: Galleguillos, thesis 2020, section 2.2.2 (algorithm 1, after Le Pape et al.) and section 6.3
(algorithm 4); Galleguillos et al., PCP'20 preprint, section 3, and CP 2021, section 3.

`tables` says what the search works on, `preparing` makes it of a model's data, `room_kernels`,
`position_kernels` and `placing_kernels` say what fits and where, `bound_kernels` what a plan costs
at least, and `search_kernels` go through the tree; `search` does so within limits.
"""
