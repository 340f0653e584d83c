"""Classes of jobs: by user, group, queue, partition, size, GPUs and hour of submission."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric import Column
from hpcsched.system.system import Request
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.trace_calendar import calendar_of, trace_names

UNKNOWN = "unknown"
"""Name of the class of jobs of which nothing is recorded."""
WITH_GPU, WITHOUT_GPU = "GPU", "no GPU"
"""Names of the classes of jobs that ask for GPUs, and that do not."""

OF_JOBS = ("units", "unit_request", "user", "group", "application", "queue", "partition")
"""Columns of `jobs.parquet` from which jobs are classified."""
SITE_PARTITION = "site_partition"
"""Column with the name of the scenario's partition of each job."""


class JobAttributes(NamedTuple):
    """Attributes of jobs, by which they are classified.

    Attributes
    ----------
    columns
        Columns of `OF_JOBS`, and `SITE_PARTITION` where the scenario declares partitions, `[J]`
        each; None where unknown.
    submits
        Submit times in seconds, `[J]`.
    """

    columns: Mapping[str, Sequence[Any]]
    submits: Column
    comments: Sequence[str]


class JobClasses(NamedTuple):
    """Classes of jobs.

    Attributes
    ----------
    of_jobs
        Place in `names` of the class of each job, `[J]`.
    """

    names: Sequence[str]
    of_jobs: Column


def job_classes(kind: str, jobs: JobAttributes) -> JobClasses:
    """Return the classes of jobs."""
    keys = KINDS[kind](jobs)
    # Jobs without a class come last, whatever the others are sorted by.
    known = sorted({key for key in keys if key is not None})
    place = {key: number for number, key in enumerate(known)}
    names = [str(name) for _, name in known]
    places = [len(known) if key is None else place[key] for key in keys]
    of_jobs = np.array(places, dtype=np.int64)
    if len(names) in of_jobs:
        names.append(UNKNOWN)
    return JobClasses(names, of_jobs)


def class_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds of classes with these names, each once.

    Examples
    --------
    >>> class_kinds(["qos", "queue", "user"])
    ['queue', 'user']
    """
    kinds = []
    for name in names:
        kind = OTHER_NAMES.get(name, name)
        if kind not in KINDS:
            there = ", ".join((*KINDS, *OTHER_NAMES))
            message = f"there are no classes of jobs by {name!r}; there are: {there}"
            raise InputError(Finding("unknown-class", message))
        kinds.append(kind)
    return list(dict.fromkeys(kinds))


def site_partitions(
    partitions: Partitions, columns: Mapping[str, Sequence[Any]], comments: Sequence[str]
) -> list[str | None]:
    """Return the name of each job's partition; None for a job that belongs to none.

    Parameters
    ----------
    comments
        Header comments of the trace: partitions may claim jobs by name.
    """
    queues, others = trace_names(comments, "queue"), trace_names(comments, "partition")
    count = max((len(values) for values in columns.values()), default=0)

    @cache
    def named(
        partition: int | None, queue: int | None, group: int | None, application: int | None
    ) -> str | None:
        job = Job(
            0,
            0,
            Request(1, (0,)),
            0,
            group=group,
            application=application,
            queue=queue,
            partition=partition,
            queue_name=None if queue is None else queues.get(queue),
            partition_name=None if partition is None else others.get(partition),
        )
        found = partitions.of(job)
        return None if found is None else found.name

    names = ("partition", "queue", "group", "application")
    return list(map(named, *(columns.get(name) or [None] * count for name in names)))


_Keys = Sequence[tuple[int | str, int | str] | None]
"""What classes are sorted by, and their names; None for a job without a class."""


def _attribute(name: str) -> Callable[[JobAttributes], _Keys]:
    def keys(jobs: JobAttributes) -> _Keys:
        values = jobs.columns.get(name) or [None] * len(jobs.submits)
        names = trace_names(jobs.comments, name)
        counts = Counter(names[number] for number in set(values) if number in names)

        def label(number: int) -> int | str:
            if number not in names:
                return number
            # Two numbers of one name stay two classes.
            return names[number] if counts[names[number]] == 1 else f"{names[number]} ({number})"

        return [None if value is None else (value, label(value)) for value in values]

    return keys


def _partitions(jobs: JobAttributes) -> _Keys:
    """Return the scenario's partitions, or the log's where the scenario declares none."""
    declared = jobs.columns.get(SITE_PARTITION)
    if declared is None:
        return _attribute("partition")(jobs)
    return [None if name is None else (name, name) for name in declared]


def _sizes(jobs: JobAttributes) -> _Keys:
    """Return binary orders of magnitude of the numbers of units."""
    keys: list[tuple[int | str, int | str] | None] = []
    for units in jobs.columns["units"]:
        order = (units - 1).bit_length()
        least, most = 2 ** (order - 1) + 1 if order else 1, 2**order
        keys.append((order, f"{least} to {most}" if least < most else str(most)))
    return keys


def _gpus(jobs: JobAttributes) -> _Keys:
    """Return whether jobs ask for a resource type with `gpu` in its name."""
    classes = {True: (0, WITH_GPU), False: (1, WITHOUT_GPU)}
    requests = jobs.columns.get("unit_request") or [None] * len(jobs.submits)
    return [
        None
        if request is None
        else classes[any(n and "gpu" in name for name, n in request.items())]
        for request in requests
    ]


def _hours(jobs: JobAttributes) -> _Keys:
    """Return hours of the day of submission, by the clock of the log."""
    submits = jobs.submits.tolist()
    calendar = calendar_of(jobs.comments, min(submits, default=0))
    hours = (calendar.place(submit).hour for submit in submits)
    return [(hour, f"{hour:02} h") for hour in hours]


KINDS: Mapping[str, Callable[[JobAttributes], _Keys]] = {
    "partition": _partitions,
    "queue": _attribute("queue"),
    "group": _attribute("group"),
    "user": _attribute("user"),
    "size": _sizes,
    "gpu": _gpus,
    "hour": _hours,
}
"""Kinds of classes by their names: what the classes of the jobs are sorted by, and called."""

ClassName = Literal["partition", "queue", "qos", "group", "account", "user", "size", "gpu", "hour"]
"""Names of kinds of classes, as `hpcsched compare --by` takes them."""

OTHER_NAMES = {"qos": "queue", "account": "group"}
"""Other names of kinds: Slurm's quality of service is a log's queue, its account a group."""

TITLES = {
    "queue": "queue (QOS)",
    "group": "group (account)",
    "size": "number of units",
    "gpu": "use of GPUs",
    "hour": "hour of submission",
}
"""Kinds of classes in titles, where that is not the name."""
