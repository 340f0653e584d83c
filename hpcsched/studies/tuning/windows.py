"""The two windows of a log: jobs on which parameters are searched, and later jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.errors import Finding, InputError
from hpcsched.report.job_classes import job_classes
from hpcsched.runs.assembly import assemble
from hpcsched.runs.replaying import Replay, Workload, replay
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import Scenario
from hpcsched.studies.tuning.tuning_space import Limit
from hpcsched.studies.whatif.differences import class_differences
from hpcsched.studies.whatif.outcomes import ReplayOutcome, outcome_in, outcome_table
from hpcsched.workload.job_batches import joined_columns
from hpcsched.workload.trace_calendar import calendar_of

TOLERATED = {"wait_time": 60.0, "bounded_slowdown": 0.1}
"""Increase of a class's mean that no constraint minds, by quantity: seconds, and 1."""


class Window(NamedTuple):
    """Jobs of a window as a replay has them.

    Attributes
    ----------
    outcome
        Times and attributes of the jobs of the window.
    objective
        The scenario's objective over these jobs; None if none ran.
    """

    outcome: ReplayOutcome
    objective: float | None


class Windows:
    """A workload with a training window, its first jobs, and a later window, the others.

    Parameters
    ----------
    workload
        The jobs of the scenario's trace.
    share
        Share of the jobs in the training window. Jobs submitted at the same second as its last one
        are in it too.

    Attributes
    ----------
    split
        Submit time of the last job of the training window, in seconds.
    counts
        Numbers of jobs in the two windows.
    calendar
        Calendar of the trace.

    Raises
    ------
    InputError
        A window has no jobs.
    """

    def __init__(self, workload: Workload, share: float) -> None:
        self._whole = workload
        columns = joined_columns(workload.columns) if workload.columns else None
        submits = [] if columns is None else columns.submit_time.tolist()
        wanted = int(len(submits) * share)
        if wanted:
            wanted = int(np.searchsorted(submits, submits[wanted - 1], side="right"))
        self.counts = wanted, len(submits) - wanted
        if not all(self.counts) or columns is None:
            message = (
                f"expected jobs to search on and later jobs; of {len(submits)} jobs"
                f" {self.counts[0]} are searched on"
            )
            raise InputError(Finding("no-jobs", message, key="train"))
        self.split = int(submits[wanted - 1])
        self.calendar = calendar_of(workload.comments, submits[0])
        first = columns.take(np.arange(wanted))
        batches = None if workload.batches is None else (first,)
        self._first = replace(workload, batches=batches, records=workload.records[:wanted])

    def trained(self, scenario: Scenario) -> Window:
        """Return the training window, replayed without the later jobs."""
        return self._window(scenario, self._first, replay(scenario, self._first), later=False)

    def later(self, scenario: Scenario) -> Window:
        """Return the later window of a replay of all jobs."""
        return self._window(scenario, self._whole, replay(scenario, self._whole), later=True)

    def _window(
        self, scenario: Scenario, workload: Workload, done: Replay, *, later: bool
    ) -> Window:
        jobs: pa.Table = done.jobs
        if later:
            jobs = jobs.filter(pa.array(jobs["submit_time"].to_numpy() > self.split))
        objective = assemble(scenario).objective.measure(ArrowTable(jobs))
        table = outcome_table(scenario, done, workload, jobs=jobs)
        return Window(outcome_in(table), objective)


def excesses(base: Window, trial: Window, limits: Sequence[Limit]) -> Iterator[float]:
    """Yield for each constraint by how much the class that fares worst exceeds it.

    Returns
    -------
    Iterator
        Largest mean of a class less the largest one allowed, in seconds for wait times; at most 0
        if the constraint is kept. Allowed is the base's mean and `percent` of it, or `TOLERATED`
        more if that is more.
    """
    for limit in limits:
        worst = -np.inf
        classes = job_classes(limit.by, base.outcome.job_attributes)
        pairs = class_differences(base.outcome, trial.outcome, limit.quantity, classes)
        for _, one in pairs:
            if one.jobs >= limit.least_jobs and one.base is not None and one.mean is not None:
                allowed = max(one.base * limit.percent / 100, TOLERATED[limit.quantity])
                worst = max(worst, one.mean - allowed)
        yield float(worst) if np.isfinite(worst) else 0.0
