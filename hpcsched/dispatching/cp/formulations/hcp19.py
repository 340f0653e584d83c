"""HCP'19: aggregated nodes, one resource of each type; nodes come afterwards.

Model (Galleguillos, thesis 2020, sections 2.3, 5.1 and 5.2; Galleguillos et al., CP 2021, section
2.2): for queued jobs τᵢ, starts s(τᵢ) ∈ [t, eoh]; for each resource type r,
cumulative([s(τᵢ)], [d(τᵢ)], [reqᵢᵣ], Tcapᵣ), running jobs included; the objective is minimised.
There are |Q̄| decision variables. Jobs that start now are put on nodes by a heuristic, which may
fail: the model is a relaxation.

Ours departs in this: what running jobs hold is one task for each stretch of time in which it is the
same, and a resource type that cannot be short has no constraint. Neither changes a plan.
"""

from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.scheduling import (
    Nowhere,
    largest_aggregated_area,
    system_cumulatives,
)
from hpcsched.dispatching.planning.model_data import ModelData


def hcp19(first: int | None = None) -> Formulation:
    """Return HCP'19: starts only; resources are aggregated.

    With `first`, only so many jobs may start when they like; all others are postponed to the end of
    the horizon, as in the first HCP (thesis 2020, section 2.3).
    """
    return Formulation(
        "HCP'19",
        "relaxation",
        "nothing",
        start_count,
        largest_aggregated_area,
        Nowhere,
        (system_cumulatives,),
        first=first,
    )


def start_count(data: ModelData) -> int:
    """Return |Q̄|."""
    return data.job_count
