"""Forecast of start times at an instant: many futures, each replayed with the same dispatcher."""

from collections.abc import Iterator
from itertools import chain, tee
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.forecast.arrival_samples import ArrivalHistory
from hpcsched.forecast.run_time_samples import RunTimeHistory
from hpcsched.simulation.replay_branches import ReplayBranch
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError

SAMPLES = 200


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

    Raises
    ------
    InputError
        If the jobs cannot be replayed so, or one never starts.
    """
    draw = np.random.default_rng([seed, branch.submitted])
    run_times = sampled_run_times(branch, past, samples, draw)
    lags = past.arrivals.lags(branch.submitted, branch.now)
    starts = np.empty((samples, len(wanted)), dtype=np.int64)
    # Futures of one lag have the same later jobs, which are made once, as far as they are read.
    unread = {
        lag: past.arrivals.later(branch.submitted, branch.now, lag) for lag in lags.tolist()
    }  # fmt: skip
    for number in range(samples):
        later: Iterator[JobColumns] = iter(())
        if len(lags):
            lag = int(lags[draw.integers(len(lags))])
            unread[lag], later = tee(unread[lag])
        if also is not None:
            later = chain((also,), later)
        try:
            starts[number] = branch.start_times(run_times[number], later, wanted)
        except NeedsPythonError as why:
            message = f"a sampled future cannot be replayed: {why}"
            raise InputError(Finding("not-replayed", message)) from None
    starts.sort(axis=0)
    return StartForecast(branch.now, wanted, starts)


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
