"""Large neighbourhood search: improves the plan of a whole trace, a few jobs at a time."""

import numpy as np

from hpcsched._core import search_neighbourhoods
from hpcsched.dispatching.offline.initial_schedules import OfflineSchedule, shifted
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_at,
    ratio,
)
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, least_of_each, total
from hpcsched.system.system import IntArray

WIDTHS = (8, 16, 32)
"""Number of jobs that are planned anew together, pass by pass."""

_LEAST_GAIN = 1e-5
"""A round of passes that gains less, relatively, is the last."""


def large_neighbourhood_search(
    trace: Trace,
    linearised: LinearisedObjective,
    incumbent: OfflineSchedule,
    budget: int,
    random: np.random.Generator,
) -> tuple[OfflineSchedule, int]:
    """Return the best plan found from an incumbent on, and the number of segments looked through.

    Every plan that is returned has its jobs shifted to the earliest start on their nodes. The
    search ends with the budget, or when going through all jobs brings nothing more.

    Parameters
    ----------
    trace
        The trace, as arrays.
    linearised
        The objective as a cost of starts.
    incumbent
        The plan to begin with.
    budget
        Number of segments that may be looked through.
    random
        Draws the seeds of neighbourhoods.
    """
    best = shifted(trace, incumbent)
    value = _value(trace, linearised, best)
    # Never 0, which the generator of compiled code would not leave.
    state = random.integers(1, 1 << 62, size=1, dtype=np.int64)
    left = budget
    while left > 0:
        before = value
        for width in WIDTHS:
            if linearised.ratio:
                # Dinkelbach: the cost at the incumbent's ratio is below 0 just for plans of a lower
                # ratio.
                linearised = linearised_at(linearised, value)
            seeds = random.permutation(trace.job_count)
            trial, left = _passed(trace, linearised.costs, best, (seeds, width, left, state))
            plan = shifted(trace, trial)
            found = _value(trace, linearised, plan)
            # The cost of a pass is linearised; only the objective itself decides what is kept.
            if found < value:
                best, value = plan._replace(method=_searched(incumbent.method)), found
            if left <= 0:
                break
        if before - value <= _LEAST_GAIN * abs(before):
            break
    return best, budget - max(left, 0)


def _passed(
    trace: Trace,
    costs: StartTimeCosts,
    incumbent: OfflineSchedule,
    one_pass: tuple[IntArray, int, int, IntArray],
) -> tuple[OfflineSchedule, int]:
    """Go through all jobs once; return the plan and the rest of the budget.

    `one_pass` has the seeds, the width, the budget, and the state of the random numbers.
    """
    starts, placed = incumbent.starts.copy(), incumbent.placed.copy()
    order = np.argsort(starts, kind="stable")
    _, least = least_of_each(costs)
    left = search_neighbourhoods(*one_pass, trace.content, costs, least, order, starts, placed)
    return incumbent._replace(starts=starts, placed=placed), left


def _searched(method: str) -> str:
    return method if method.endswith("in windows") else f"{method}, then searched in windows"


def _value(trace: Trace, linearised: LinearisedObjective, incumbent: OfflineSchedule) -> float:
    """Return the objective of a plan, or a value that rises and falls with it."""
    return (
        ratio(trace, linearised, incumbent.starts)
        if linearised.ratio
        else total(linearised.costs, incumbent.starts)
    )
