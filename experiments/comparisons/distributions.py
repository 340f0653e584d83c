"""What runs came to: slowdowns job by job, and how many jobs waited second by second.

As in section 5 of Galleguillos and others (MOD 2017): of the jobs those count that do not start at
once in every run, of the time that in which jobs wait in at least one run. So the distributions of
a trace's runs are comparable, and are not all about an idle system.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from comparisons.box_charts import Box, box_of
from hpcsched.runs.directory import RunDirectory

Numbers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


Key = TypeVar("Key", bound=Hashable)

HOUR = 3600
CLASSES: Mapping[str, tuple[float, float]] = {
    "short": (0, HOUR),
    "medium": (HOUR, 12 * HOUR),
    "long": (12 * HOUR, np.inf),
}
"""Classes of jobs by their run time in s, from so much on, below so much (MOD 2017, section 2)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    `bounded_slowdown` and `wait_time` are means over jobs, in s the latter. `slowdowns` and
    `queue` are distributions over what counts; `by_class` has the slowdowns of each class of jobs
    that has any, and `sizes` how many it has.
    """

    bounded_slowdown: float
    wait_time: float
    slowdowns: Box
    queue: Box
    by_class: Mapping[str, Box]
    sizes: Mapping[str, int]


class _Run(NamedTuple):
    """A run's jobs by number: times in s, `[J]`, and its mean bounded slowdown."""

    jobs: Numbers
    submits: Numbers
    starts: Numbers
    ends: Numbers
    bounded_slowdown: float


def read_outcomes(runs: Mapping[Key, RunDirectory]) -> Mapping[Key, Outcome]:
    """Return the outcomes of one trace's runs.

    Raises InputError where a file is damaged.
    """
    return _outcomes({key: _read(run) for key, run in runs.items()})


def _read(run: RunDirectory) -> _Run:
    names = ("job_id", "submit_time", "start_time", "end_time")
    table = run.jobs.read(*names)
    table = table.filter(table["start_time"].is_valid()).sort_by("job_id")
    jobs, submits, starts, ends = (table[name].to_numpy().astype(np.int64) for name in names)
    return _Run(jobs, submits, starts, ends, run.summary["metrics"]["mean_bounded_slowdown"])


def _outcomes(runs: Mapping[Key, _Run]) -> Mapping[Key, Outcome]:
    if not runs:
        return {}
    # A job that is rejected in one run has no slowdown there, so it counts in none.
    common = sorted(set.intersection(*(set(run.jobs.tolist()) for run in runs.values())))
    delayed = np.zeros(len(common), np.bool_)
    for run in runs.values():
        delayed |= (run.starts > run.submits)[np.isin(run.jobs, common)]
    instants = np.unique(np.concatenate([np.r_[run.submits, run.starts] for run in runs.values()]))
    lasting = np.diff(instants)
    busy = np.zeros(len(lasting), np.bool_)
    for run in runs.values():
        busy |= _queue(run, instants) > 0
    found = {}
    for key, run in runs.items():
        counting = np.isin(run.jobs, common)
        slowdowns = _slowdowns(run)[counting][delayed]
        run_times = (run.ends - run.starts)[counting][delayed]
        within = {name: (run_times >= a) & (run_times < b) for name, (a, b) in CLASSES.items()}
        found[key] = Outcome(
            run.bounded_slowdown,
            float((run.starts - run.submits).mean()),
            box_of(slowdowns),
            box_of(_queue(run, instants)[busy].astype(np.float64), lasting[busy]),
            {name: box_of(slowdowns[these]) for name, these in within.items() if these.any()},
            {name: int(these.sum()) for name, these in within.items()},
        )
    return found


def _slowdowns(run: _Run) -> Values:
    """Return response time / run time, `[J]`; a run time of 0 counts as one second."""
    run_times = np.maximum(run.ends - run.starts, 1)
    return np.asarray((run.ends - run.submits) / run_times, np.float64)


def _queue(run: _Run, instants: Numbers) -> Numbers:
    """Return how many jobs wait from each instant to the next."""
    came = np.sort(run.submits).searchsorted(instants[:-1], side="right")
    went = np.sort(run.starts).searchsorted(instants[:-1], side="right")
    return np.asarray(came - went, np.int64)
