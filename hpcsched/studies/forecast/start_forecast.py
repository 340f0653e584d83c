"""Forecast of start times at an instant: many futures, each replayed with the same dispatcher."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.simulation.replay_branches import LaterJobs, ReplayBranch
from hpcsched.studies.forecast.arrival_samples import ArrivalHistory
from hpcsched.studies.forecast.run_time_samples import RunTimeHistory
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError

SAMPLES = 200

Ended = Callable[[int], None]
"""Function that is given the number of futures that have ended."""


class Past(NamedTuple):
    """Knowledge at an instant.

    Attributes
    ----------
    columns
        All jobs of the trace; only those submitted are used.
    run_times
        Run times of the jobs that have ended.
    arrivals
        Jobs submitted.
    """

    columns: JobColumns
    run_times: RunTimeHistory
    arrivals: ArrivalHistory


class StartForecast(NamedTuple):
    """Sampled start times of the jobs that wait at an instant.

    Attributes
    ----------
    now
        The instant, in seconds.
    sequence
        Places of the jobs among all submitted, ascending, `[W]`.
    samples
        Start times, `[S, W]`, in seconds, each column ascending.
    """

    now: int
    sequence: IntArray
    samples: IntArray

    def rank(self, job: int, start_time: int) -> float:
        """Return the share of the samples before a start time; half of those equal to it count.

        Parameters
        ----------
        job
            Index of the job, up to `W`.
        start_time
            Start time in seconds.
        """
        own = self.samples[:, job]
        before, equal = (own < start_time).sum(), (own == start_time).sum()
        return float(before + 0.5 * equal) / len(own)

    def quantile(self, share: float) -> IntArray:
        """Return the start times that a share of the samples do not exceed, by nearest rank, `[W]`.

        Parameters
        ----------
        share
            From 0 to 1.
        """
        count = len(self.samples)
        rank = min(max(int(np.ceil(share * count)), 1), count)
        found: IntArray = self.samples[rank - 1]
        return found


def forecast_starts(
    branch: ReplayBranch,
    past: Past,
    wanted: IntArray,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    also: JobColumns | None = None,
    ended: Ended = lambda _: None,
) -> StartForecast:
    """Return the forecast of start times at an instant.

    Parameters
    ----------
    branch
        State of the replay.
    past
        What is known.
    wanted
        Places of jobs among all submitted, ascending, `[W]`.
    samples
        Number of futures.
    seed
        Seed of the randomness; the instant is part of it.
    also
        Jobs that are submitted now as well.
    ended
        Called with the number of futures so far, after each.

    Raises
    ------
    InputError
        If the jobs cannot be replayed so, or one never starts.
    """
    draw = np.random.default_rng([seed, branch.submitted])
    run_times = sampled_run_times(branch, past, samples, draw)
    lags = past.arrivals.lags(branch.submitted, branch.now)
    lag_of = sampled_lags(lags, samples, draw)
    now_too = () if also is None else (also,)
    of_lag = {
        lag: LaterJobs(chain(now_too, past.arrivals.later(branch.submitted, branch.now, lag)))
        for lag in set(lag_of)
    }
    later = [of_lag[lag] for lag in lag_of]
    return StartForecast(branch.now, wanted, future_starts(branch, run_times, later, wanted, ended))


def sampled_lags(lags: IntArray, samples: int, draw: np.random.Generator) -> list[int | None]:
    """Return the time by which the past is moved in each future, in seconds; None without any."""
    if not len(lags):
        return [None] * samples
    return [int(lags[draw.integers(len(lags))]) for _ in range(samples)]


def future_starts(
    branch: ReplayBranch,
    run_times: IntArray,
    later: Sequence[LaterJobs],
    wanted: IntArray,
    ended: Ended,
) -> IntArray:
    """Return the start times of jobs in sampled futures, `[S, W]`, each column ascending.

    Parameters
    ----------
    branch
        State of the replay.
    run_times
        Run times of the present jobs in each future, `[S, J]`, in seconds.
    later
        Later jobs of each future, `[S]`.
    wanted
        Places of jobs among all submitted, ascending, `[W]`.
    ended
        Called with the number of futures so far, after each.

    Raises
    ------
    InputError
        If the jobs cannot be replayed so, or one never starts.
    """
    try:
        starts = branch.start_times(run_times, later, wanted, ended)
    except NeedsPythonError as why:
        message = f"a sampled future cannot be replayed: {why}"
        raise InputError(Finding("not-replayed", message)) from None
    if (starts < 0).any():
        message = (
            f"the dispatcher {branch.dispatcher_name} cannot be forecast: there is a future in"
            " which it never starts a job that waits, such as one that it refuses"
        )
        raise InputError(Finding("never-started", message, key="dispatcher"))
    starts.sort(axis=0)
    return starts


def sampled_run_times(
    branch: ReplayBranch, past: Past, samples: int, draw: np.random.Generator
) -> IntArray:
    """Return sampled run times of the present jobs, `[S, J]`, in seconds."""
    present = branch.present
    elapsed = np.where(present.start_time < 0, 0, branch.now - present.start_time)
    users = past.arrivals.users[present.sequence]
    asked = list(
        zip(users.tolist(), np.maximum(present.requested_time, 1).tolist(), strict=True)
    )  # fmt: skip
    return past.run_times.run_times(asked, elapsed.tolist(), samples, draw)
