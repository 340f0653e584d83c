"""The value of a ratio of sums for a plan."""

from hpcsched.dispatching.planned_cost import SpecificCost
from hpcsched.system.system import IntArray


def ratio_of(specific: SpecificCost, starts: IntArray, run_times: IntArray) -> float:
    """Return PαSF of planned jobs, in seconds, whatever the level; 0 where they weigh nothing.

    `starts` from now and `run_times` are in seconds, `[J]`. A plan of a lower ratio costs less than
    nothing at a level of this one, and one that costs least at its own ratio has the least there is
    (Dinkelbach, 1967). It differs from the metric by rounding alone.
    """
    upper, lower = specific.sums(starts, run_times)
    return upper / lower if lower else 0.0
