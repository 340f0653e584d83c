"""What runs came to: slowdowns job by job, and how many jobs waited second by second.

As in section 5 of Galleguillos and others (MOD 2017): of the jobs those count that do not start at
once in every run, of the time that in which jobs wait in at least one run. So the distributions of
a trace's runs are comparable, and are not all about an idle system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.cell import Cell, finished
from hpcsched.errors import HpcschedError
from hpcsched.report.boxes import Box, box_of
from hpcsched.results.directory import RunDirectory

Numbers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    `bounded_slowdown` and `wait_time` are means over jobs, in s the latter; `waiting` is how many
    jobs wait, as a mean over time. `slowdowns` and `queue` are distributions over what counts.
    """

    bounded_slowdown: float
    wait_time: float
    waiting: float
    slowdowns: Box
    queue: Box


class _Run(NamedTuple):
    """A run's jobs by number: times in s, `[J]`, and its mean bounded slowdown."""

    jobs: Numbers
    submits: Numbers
    starts: Numbers
    ends: Numbers
    bounded_slowdown: float


def read_outcomes(cells: Sequence[Cell]) -> tuple[Mapping[str, Outcome], list[str]]:
    """Return the outcomes of one trace's complete cells by label, and the names of the others."""
    runs: dict[str, _Run] = {}
    missing = []
    for cell in cells:
        try:
            run = finished(cell, cell.load())
            if run is not None:
                runs[cell.label] = _read(run)
                continue
        except HpcschedError:
            pass  # its scenario is not valid, or a file of it is damaged: there is no outcome
        missing.append(cell.name)
    return _outcomes(runs), missing


def _read(run: RunDirectory) -> _Run:
    names = ("job_id", "submit_time", "start_time", "end_time")
    table = run.jobs.read(*names)
    table = table.filter(table["start_time"].is_valid()).sort_by("job_id")
    jobs, submits, starts, ends = (table[name].to_numpy().astype(np.int64) for name in names)
    return _Run(jobs, submits, starts, ends, run.summary["metrics"]["mean_bounded_slowdown"])


def _outcomes(runs: Mapping[str, _Run]) -> Mapping[str, Outcome]:
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
    return {
        label: Outcome(
            run.bounded_slowdown,
            float((run.starts - run.submits).mean()),
            float((run.starts - run.submits).sum() / (run.ends.max() - run.submits.min())),
            box_of(_slowdowns(run)[np.isin(run.jobs, common)][delayed]),
            box_of(_queue(run, instants)[busy].astype(np.float64), lasting[busy]),
        )
        for label, run in runs.items()
    }


def _slowdowns(run: _Run) -> Values:
    """Return response time / run time, `[J]`; a run time of 0 counts as one second."""
    run_times = np.maximum(run.ends - run.starts, 1)
    return np.asarray((run.ends - run.submits) / run_times, np.float64)


def _queue(run: _Run, instants: Numbers) -> Numbers:
    """Return how many jobs wait from each instant to the next."""
    came = np.sort(run.submits).searchsorted(instants[:-1], side="right")
    went = np.sort(run.starts).searchsorted(instants[:-1], side="right")
    return np.asarray(came - went, np.int64)
