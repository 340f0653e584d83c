"""Metrics of runs by class of jobs, with the objectives of their scenarios."""

from collections.abc import Iterator, Sequence

import numpy as np

from hpcsched.dispatching.problem import Objective
from hpcsched.errors import HpcschedError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import JobBreakdown, Schedule, job_breakdown, read_schedule
from hpcsched.report.job_classes import KINDS
from hpcsched.runs.assembly import assemble
from hpcsched.runs.directory import RunDirectory
from hpcsched.scenario import load_scenario


def breakdowns(
    compared: ComparedStudy,
    kinds: Sequence[str] | None = None,
    log: Schedule | None = None,
    *,
    log_is_baseline: bool = False,
) -> Iterator[JobBreakdown]:
    """Yield the metrics of runs by class of jobs, for each kind of class.

    Parameters
    ----------
    compared
        The runs and their baseline.
    kinds
        Kinds of classes; None: those of which the baseline has two classes or more.
    log
        The schedule of the log, which comes after the runs; None: without it.
    log_is_baseline
        Whether it is the baseline.

    Raises
    ------
    InputError
        A file of a run is damaged.
    """
    if kinds is not None and not kinds:
        return
    runs = compared.study.runs
    schedules = [read_schedule(one, objective_of(one.run)) for one in runs]
    base = [one.name for one in runs].index(compared.baseline_run.name)
    if log is not None:
        # One population for all: the jobs whose start the log records.
        known = log.jobs["job_id"].to_numpy()
        schedules = [one.only(np.isin(one.jobs["job_id"].to_numpy(), known)) for one in schedules]
        schedules.append(log)
        base = len(runs) if log_is_baseline else base
    for kind in KINDS if kinds is None else kinds:
        found = job_breakdown(schedules, base, kind)
        # One class, and all jobs, say the same.
        if kinds is not None or len(found.classes) > 2:
            yield found


def objective_of(run: RunDirectory) -> Objective | None:
    """Return the objective of a run's scenario; None where it cannot be built here."""
    try:
        return assemble(load_scenario(run.scenario_path)).objective
    # A plugin need not be installed where runs are compared.
    except HpcschedError:
        return None
