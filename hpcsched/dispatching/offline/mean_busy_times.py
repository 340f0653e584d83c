"""A lower bound by mean busy times, and the prices that go with it.

Jobs on aggregated nodes with `m` units are taken for jobs on one machine that is as fast as the
whole of them, on which they may be interrupted and take turns: a job that holds d units for p
seconds is one of area a = d · p, which takes a / m seconds. Any schedule of the nodes is one of the
machine, with each area spread evenly over its run. The mean of the instants at which a job is
worked on is its mean busy time M, and for a job that runs from S to S + p on the nodes it is S + p
/ 2. Of all schedules of the machine, the one that always works on the job with the largest weight
by area minimises Σ w·M (Goemans, Queyranne, Schulz, Skutella and Wang, "Single machine scheduling
with release dates", SIAM Journal on Discrete Mathematics 15, 2002). So no schedule of the nodes has
a Σ w · S below that minimum less Σ w · p / 2.

The minimum is one of a transport problem: area goes to instants, at a cost that grows in proportion
to the time, and the machine's capacity limits it. Its dual prices fall, while a job is worked on,
at the rate of that job's weight by area, and are 0 where the machine becomes idle.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


class MeanBusyTimes(NamedTuple):
    """The best schedule of the relaxed machine, as `K` pieces by time.

    Attributes
    ----------
    least
        Minimum of Σ w · M.
    begins, ends
        The machine works on one job from `begins[k]` to `ends[k]`, in seconds; both `[K]`.
    densities
        Weight by area of that job, `[K]`.
    """

    least: float
    begins: FloatArray
    ends: FloatArray
    densities: FloatArray

    def multipliers(self) -> FloatArray:
        """Return the dual price of an area at the beginning of each piece, `[K]`."""
        falls = self.densities * (self.ends - self.begins)
        multipliers = np.zeros(len(falls) + 1)
        for k in range(len(falls) - 1, -1, -1):
            joined = k + 1 < len(falls) and self.begins[k + 1] <= self.ends[k]
            multipliers[k] = falls[k] + (multipliers[k + 1] if joined else 0.0)
        return multipliers[:-1]


def mean_busy_times(
    submit: IntArray, areas: IntArray, weights: FloatArray, capacity: int
) -> MeanBusyTimes:
    """Return the best schedule of the relaxed machine.

    Parameters
    ----------
    submit
        Submissions in seconds, ascending, `[J]`.
    areas
        Units × seconds of each job, `[J]`.
    weights
        Weight of each job's mean busy time, `[J]`.
    capacity
        Units of the resource.
    """
    left = (areas / capacity).tolist()
    densities = (weights / areas).tolist()
    submitted = submit.tolist()
    ready: list[tuple[float, int]] = []
    pieces: list[tuple[float, float, float]] = []
    least, now, upcoming, count = 0.0, 0.0, 0, len(left)
    while upcoming < count or ready:
        if not ready:
            now = max(now, float(submitted[upcoming]))
        while upcoming < count and submitted[upcoming] <= now:
            # Ties go by number, so that the pieces are the same on every machine.
            heappush(ready, (-densities[upcoming], upcoming))
            upcoming += 1
        _, job = ready[0]
        until = now + left[job]
        # The job goes on to be the first unless the new one is denser: it stays in the heap.
        if upcoming < count and submitted[upcoming] < until:
            until = float(submitted[upcoming])
            left[job] -= until - now
        else:
            heappop(ready)
        # ∫ t dt over the piece, times the weight by time on the machine
        least += densities[job] * capacity * (until - now) * (until + now) / 2
        pieces.append((now, until, densities[job]))
        now = until
    begins, ends, rates = (np.array(column) for column in zip(*pieces, strict=True))
    return MeanBusyTimes(least, begins, ends, rates)
