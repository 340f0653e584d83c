"""Shared resources in a model's terms: their free amounts by time, and draws.

Source: the first of the constraint programming dispatchers to have power as one more cumulative
resource is that of Borghesi et al. (see Galleguillos, thesis 2020, section 2.3).
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob, allocated_draws
from hpcsched.system.shared_resources import longest_stay, period_of, settled_from, steps_from
from hpcsched.system.space import most_draw
from hpcsched.system.system import IntArray


class SharedResourceData(NamedTuple):
    """`P` shared resources of a model; times are in seconds from now.

    Attributes
    ----------
    draws
        Amount that each job draws, `[J, P]`.
    since
        Times at which the free amounts change, ascending from 0, `[T]`.
    free
        Free amounts from `since[t]` on, `[T, P]`: the offer less the draw of running jobs, at
        least 0.
    allowance
        Time that each job may have to wait for an offer that comes now and then, `[J]`.
    last
        Time from which on the free amounts change no more but for periodic offers.
    """

    draws: IntArray
    since: IntArray
    free: IntArray
    allowance: IntArray
    last: int

    @property
    def shared_count(self) -> int:
        """Number of shared resources, P."""
        return int(self.free.shape[1])

    @property
    def capacity(self) -> IntArray:
        """The largest amount that is ever free, `[P]`."""
        return np.asarray(self.free.max(axis=0))

    def fault_of(self, starts: IntArray, run_times: IntArray, jobs: Sequence[int]) -> str | None:
        """Return the fault of some jobs' starts, in words; None if the shared resources suffice."""
        ends = starts + run_times
        for time in {*(int(starts[i]) for i in jobs), *self.since.tolist()}:
            free = self.free[int(np.searchsorted(self.since, time, side="right")) - 1]
            running = [i for i in jobs if starts[i] <= time < ends[i]]
            drawn = self.draws[running].sum(axis=0)
            if ((drawn > free) & (drawn > 0)).any():
                return "more is drawn from a shared resource than is free"
        return None


def can_be_planned(problem: DispatchingProblem, jobs: Sequence[WaitingJob]) -> Sequence[WaitingJob]:
    """Return the jobs that the shared resources can supply for their whole run at some time."""
    shared_resources = problem.system.shared_resources
    if not shared_resources:
        return jobs
    stay_of = cache(partial(longest_stay, shared_resources))
    system = problem.system
    return [
        job for job in jobs if job.predicted_run_time <= stay_of(most_draw(system, job.request))
    ]


def shared_resource_data(
    problem: DispatchingProblem, jobs: Sequence[WaitingJob], allocated_until: int
) -> SharedResourceData | None:
    """Return the shared resources of a problem for some jobs; None where the system has none.

    Running jobs hold nothing on nodes from `allocated_until` on, in seconds from now.
    """
    system, now = problem.system, problem.now
    shared_resources = system.shared_resources
    if not shared_resources:
        return None
    count = len(shared_resources)
    draws = np.array([most_draw(system, job.request) for job in jobs], dtype=np.int64)
    draws = draws.reshape(len(jobs), count)
    allocated = np.array(allocated_draws(problem), dtype=np.int64).reshape(
        len(problem.running), count
    )
    ends = np.array([job.predicted_end_time - now for job in problem.running], dtype=np.int64)
    period = period_of(shared_resources)
    settled = max(settled_from(shared_resources) - now, 0)
    # What shared resources offer at least from now on: jobs that draw more have to wait for their
    # times.
    offered = _offered(problem, settled + 2 * period)
    least = np.array([amounts for _, amounts in offered], dtype=np.int64).min(axis=0)
    # Others never wait for an offer to come back, so their plans need no longer horizon.
    needy = (draws > least).any(axis=1)
    allowance = np.where(needy, 2 * period + 2, 0)
    last = int(ends.max(initial=max(allocated_until, settled if needy.any() else 0)))
    run_times = np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
    reach = last + int((allowance + run_times).sum())
    since, amounts = _free(_offered(problem, reach), ends, allocated)
    kept = since < reach
    # No plan needs to go further, where nothing is counted on but what there is at least.
    since = np.append(since[kept], reach)
    amounts = np.vstack((amounts[kept], least))
    return in_common_units(SharedResourceData(draws, since, amounts, allowance, last))


def in_common_units(shared: SharedResourceData) -> SharedResourceData:
    """Return amounts in units of the greatest common divisor of all draws, rounded down.

    Powers in watts would make products of solvers overflow.
    """
    common = np.maximum(np.gcd.reduce(shared.draws, axis=0), 1)
    free = shared.free // common
    # Rounding can make neighbouring amounts equal; equal ones are one piece of the profile.
    changed = np.concatenate(([True], (np.diff(free, axis=0) != 0).any(axis=1)))
    draws, free = np.ascontiguousarray(shared.draws // common), np.ascontiguousarray(free[changed])
    return shared._replace(draws=draws, since=shared.since[changed], free=free)


def _offered(problem: DispatchingProblem, until: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the offers of shared resources by their begin, in seconds from now, up to `until`."""
    offered = []
    for time, amounts in steps_from(problem.system.shared_resources, problem.now):
        if time - problem.now > until:
            break
        offered.append((time - problem.now, amounts))
    return offered


def _free(
    offered: Sequence[tuple[int, tuple[int, ...]]], ends: IntArray, allocated: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the times at which free amounts change, in seconds, `[T]`, and the amounts, `[T, P]`.

    `allocated`, `[K, P]`, is the draw of running jobs until their `ends`, `[K]`, ascending. Amounts
    are at least 0.
    """
    starts = np.array([time for time, _ in offered], dtype=np.int64)
    amounts = np.array([amounts for _, amounts in offered], dtype=np.int64)
    seconds = np.unique(np.concatenate((starts, ends)))
    drawn = np.vstack((np.cumsum(allocated[::-1], axis=0)[::-1], np.zeros_like(amounts[:1])))
    free = amounts[np.searchsorted(starts, seconds, side="right") - 1]
    free -= drawn[np.searchsorted(ends, seconds, side="right")]
    return seconds, np.maximum(free, 0)
