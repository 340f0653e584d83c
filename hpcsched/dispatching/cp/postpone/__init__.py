"""The papers' search, schedule or postpone, over the data of the formulations.

Source: Galleguillos, thesis 2020, section 2.2.2 (algorithm 1, after Le Pape et al.) and section 6.3
(algorithm 4); Galleguillos et al., PCP'20 preprint, section 3, and CP 2021, section 3.

The tree is `hpcsched._core.PostponeSearch`, in `hpcsched/cpp/postpone`: `problem` holds what does
not change, `state` the path to the present node, `positions` the positions of units on nodes,
`placing` the ways to start a job, `bound` lower bounds of a plan's cost, and `search` the tree.
"""
