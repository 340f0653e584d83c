"""Classes of jobs: by user, group, size, partition and hour of submission."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.metric_tables import Column
from hpcsched.whatif.outcomes import ReplayOutcome
from hpcsched.workload.trace_calendar import calendar_of

UNKNOWN = "unknown"
"""Name of the class of jobs of which nothing is recorded."""


class JobClasses(NamedTuple):
    """Classes of the jobs of a replay.

    Attributes
    ----------
    names
        Names of the classes, in order.
    of_jobs
        Place in `names` of the class of each job, `[J]`.
    """

    names: Sequence[str]
    of_jobs: Column


def job_classes(kind: str, outcome: ReplayOutcome) -> JobClasses:
    """Return the classes of the jobs of a replay.

    Parameters
    ----------
    kind
        Name in `KINDS`.
    outcome
        The replay.
    """
    keys = KINDS[kind](outcome)
    # Jobs without a class come last, whatever the others are sorted by.
    known = sorted({key for key in keys if key is not None})
    place = {key: number for number, key in enumerate(known)}
    names = [str(name) for _, name in known]
    places = [len(known) if key is None else place[key] for key in keys]
    of_jobs = np.array(places, dtype=np.int64)
    if len(names) in of_jobs:
        names.append(UNKNOWN)
    return JobClasses(names, of_jobs)


_Keys = Sequence[tuple[int | str, int | str] | None]
"""What classes are sorted by, and their names; None for a job without a class."""


def _attribute(name: str) -> Callable[[ReplayOutcome], _Keys]:
    def keys(outcome: ReplayOutcome) -> _Keys:
        values = outcome.attributes.get(name) or [None] * len(outcome.jobs.job_ids)
        return [None if value is None else (value, value) for value in values]

    return keys


def _sizes(outcome: ReplayOutcome) -> _Keys:
    """Return binary orders of magnitude of the numbers of units."""
    keys: list[tuple[int | str, int | str] | None] = []
    for units in outcome.attributes["units"]:
        order = (units - 1).bit_length()
        least, most = 2 ** (order - 1) + 1 if order else 1, 2**order
        keys.append((order, f"{least} to {most}" if least < most else str(most)))
    return keys


def _hours(outcome: ReplayOutcome) -> _Keys:
    """Return hours of the day of submission, by the clock of the log."""
    submits = outcome.jobs.submits.tolist()
    calendar = calendar_of(outcome.figures.comments, min(submits, default=0))
    hours = (calendar.place(submit).hour for submit in submits)
    return [(hour, f"{hour:02} h") for hour in hours]


KINDS: Mapping[str, Callable[[ReplayOutcome], _Keys]] = {
    "user": _attribute("user"),
    "group": _attribute("group"),
    "size": _sizes,
    "partition": _attribute("partition"),
    "hour": _hours,
}
"""Kinds of classes by their names: what the classes of the jobs are sorted by, and called."""
