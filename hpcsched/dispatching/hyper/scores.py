"""The value of the objective over replayed jobs, and the choice of a dispatcher by it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from hpcsched.dispatching.hyper.past import PastJobs
from hpcsched.dispatching.problem import Objective
from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric_tables import Column
from hpcsched.system.system import IntArray


@dataclass(frozen=True, slots=True)
class ReplayedJobs:
    """Replayed jobs as a table that objectives measure."""

    columns: Mapping[str, Any]

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns; raises InputError where a replay of the past lacks one."""
        for column in columns:
            if column not in self.columns:
                message = (
                    f"the objective looks at {column!r} of jobs, which hyper does not know of those"
                    f" that it replays; expected one that looks at no more than"
                    f" {', '.join(self.columns)}"
                )
                raise InputError(Finding("objective-not-replayed", message, key="objective"))
        yield tuple(self.columns[column] for column in columns)


def score(objective: Objective, jobs: PastJobs, starts: IntArray, since: int) -> float:
    """Return the objective over the jobs seen from `since` on, if they start at `starts`.

    Jobs that have not started by now count as if they started now: of later starts nothing is
    known, since jobs that are yet to come may change them.
    """
    kept = jobs.places >= since
    submit_times, run_times = jobs.columns.submit_time[kept], jobs.columns.run_time[kept]
    starts = np.minimum(starts, jobs.now)[kept]
    value = objective.measure(
        ReplayedJobs(
            {
                "submit_time": submit_times,
                "start_time": starts,
                "end_time": starts + run_times,
                "run_time": run_times,
                "wait_time": starts - submit_times,
                "demand": jobs.demands[kept],
            }
        )
    )
    return np.inf if value is None else float(value)


def better(scores: Mapping[int, float], present: int, hysteresis: float, jobs: int) -> int | None:
    """Return the member of least objective, if it beats the present one by enough.

    Enough is a share of the present objective that falls with the number of jobs, as chance does:
    `hysteresis` over its root.

    Parameters
    ----------
    scores
        Objective over the replayed jobs, by member.
    present
        The present member.
    hysteresis
        Share of the objective for one job.
    jobs
        Number of replayed jobs.
    """
    # Of equal scores the first of the portfolio, in whatever order they were replayed.
    least = min(sorted(scores), key=lambda member: scores[member])
    if scores[least] < scores[present] * (1 - hysteresis / sqrt(jobs)):
        return least
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)
