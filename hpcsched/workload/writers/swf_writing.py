"""Writer of logs in the Standard Workload Format, which the trace source `swf` reads back."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.swf import JOB_NAMES, UNIT_RESOURCES
from hpcsched.workload.trace_calendar import time_comments
from hpcsched.workload.trace_source import TraceSource
from hpcsched.workload.writers.trace_writing import (
    AFTER,
    BOUND,
    NAMES,
    NUMBERS,
    REQUESTS,
    Losses,
    Written,
    check_trace_target,
    kept_waits,
    opened,
)

__all__ = ["Written", "write_swf"]

_OWN_COMMENTS = ("Version:", "MaxJobs:", "MaxRecords:", UNIT_RESOURCES, JOB_NAMES)
"""Comments about the file and not about the trace."""

_MISSING = -1
_COMPLETED = 1
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]")


def write_swf(
    path: Path,
    source: TraceSource,
    system: System,
    *,
    note: str,
    limit: int | None = None,
    force: bool = False,
    keep_comments: bool = False,
) -> Written:
    """Write the jobs of a source, in their order, in the Standard Workload Format.

    Each record has the 18 fields, then the declared amounts of a unit for every resource type of
    the system. If the first job has a name, each record ends with the job's name, or -1; otherwise
    names of later jobs are not written. Equal jobs give equal bytes. After an error the file is
    unchanged.

    Parameters
    ----------
    path
        Target; gzip if its name ends in `.gz`.
    limit
        Maximum number of jobs; None: all.

    Raises
    ------
    InputError
        If the file exists or cannot be written, or the trace cannot be used.
    """
    check_trace_target(path, source, force=force)
    waits = kept_waits(source)
    jobs = islice(source.jobs(), limit)
    first = next(jobs, None)  # the header has been read then
    named = first is not None and first.job.name is not None
    count, losses = 0, Losses((NAMES, NUMBERS, REQUESTS, AFTER))
    with opened(path) as file:
        for comment in _header(source.comments, system, note, named=named, kept=keep_comments):
            file.write(f"; {comment}\n".encode())
        for traced in chain([] if first is None else [first], jobs):
            wait = waits.get(traced.job.job_id, _MISSING)
            file.write(_record(traced, wait, system, named=named))
            count += 1
            losses.note(traced.job, one_core=False)
            if traced.job.name is not None and not _keeps(traced.job.name, named=named):
                losses.counts[NAMES] += 1
            if len(traced.job.after) > 1:
                losses.counts[AFTER] += 1
    size, lost = path.stat().st_size, losses.counts
    return Written(path, count, size, lost[BOUND], dict(+lost))


def _header(
    comments: Sequence[str], system: System, note: str, *, named: bool, kept: bool
) -> Iterator[str]:
    yield "Version: 2.2"
    if kept:
        yield from (comment for comment in comments if not comment.startswith(_OWN_COMMENTS))
        yield f"Note: {note}"
    else:
        yield f"Computer: {_in_words(system)}"
        yield f"Note: {note}"
        yield from time_comments(comments)
    yield f"{UNIT_RESOURCES} {' '.join(system.resource_types)}"
    if named:
        yield f"{JOB_NAMES} last"


def _in_words(system: System) -> str:
    return ", ".join(
        f"{group.count} {group.name} ({', '.join(f'{n} {name}' for name, n in resources.items())})"
        for group, resources in ((group, group.resources) for group in system.groups)
    )


def _record(traced: TracedJob, wait: int, system: System, *, named: bool) -> bytes:
    job = traced.job
    fields: Iterable[object] = (
        job.job_id,
        job.submit_time,
        wait,
        traced.run_time,
        _MISSING,  # processors allocated, processor time and memory used
        _MISSING,
        _MISSING,
        job.units,
        job.requested_time,
        _MISSING,  # memory requested
        _COMPLETED,
        *(
            _MISSING if number is None else number
            for number in (job.user, job.group, job.application, job.queue, job.partition)
        ),
        *_preceding(job),
        *system.declared(job.unit_request).values(),
        *([_written(job.name)] if named else []),
    )
    return (" ".join(map(str, fields)) + "\n").encode()


def _preceding(job: Job) -> tuple[int, int]:
    """Return the preceding job and the think time; the format has room for one such job."""
    return (job.after[-1], job.think_time) if job.after else (_MISSING, _MISSING)


def _written(name: str | None) -> str:
    """Return a name as one field: `_` replaces characters that a log's names cannot have."""
    if not name:
        return str(_MISSING)
    field = _NOT_IN_NAMES.sub("_", name)
    # A job called -1 must not read back as a job without a name.
    return "_1" if field == str(_MISSING) else field


def _keeps(name: str, *, named: bool) -> bool:
    """Return whether a job's name is written unchanged."""
    return named and _written(name) == name
