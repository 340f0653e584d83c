"""Writes jobs as a log in the Standard Workload Format, which the trace source `swf` reads back."""

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import System
from hpcsched.workload.instants import time_comments
from hpcsched.workload.job import TracedJob
from hpcsched.workload.source import TraceSource
from hpcsched.workload.swf import JOB_NAMES, UNIT_RESOURCES

_MISSING = -1
_COMPLETED = 1
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]")


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: how many jobs and bytes, and how many jobs lost what SWF cannot say.

    `bound` counts jobs that are bound to node groups or nodes, or exclusive.
    """

    path: Path
    jobs: int
    size: int
    bound: int


def write_swf(
    path: Path,
    source: TraceSource,
    system: System,
    *,
    note: str,
    limit: int | None = None,
    force: bool = False,
) -> Written:
    """Write the jobs of a source, at most `limit`, as they come; gzip if the name ends in `.gz`.

    Each record has the 18 fields, then what a unit asks for of every resource type of the system,
    as declared. If the first job has a name, each record ends with the job's name, or -1; otherwise
    names of later jobs are not written. The same jobs give the same bytes. Raises InputError where
    a file is there already, unless `force`, or cannot be written, and where the trace cannot be
    used; then the file is as it was.
    """
    _check_target(path, source, force=force)
    jobs = islice(source.jobs(), limit)
    first = next(jobs, None)  # the header has been read then
    named = first is not None and first.job.name is not None
    count = bound = 0
    with _replacing(path) as file:
        for comment in _header(source.comments, system, note, named=named):
            file.write(f"; {comment}\n".encode())
        for traced in chain([] if first is None else [first], jobs):
            file.write(_record(traced, system, named=named))
            count += 1
            job = traced.job
            bound += job.exclusive or job.node_groups is not None or job.allowed_nodes is not None
    return Written(path, count, path.stat().st_size, bound)


def _header(comments: Sequence[str], system: System, note: str, *, named: bool) -> Iterator[str]:
    yield "Version: 2.2"
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


def _record(traced: TracedJob, system: System, *, named: bool) -> bytes:
    job = traced.job
    fields: Iterable[object] = (
        job.job_id,
        job.submit_time,
        _MISSING,  # wait time
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
        _MISSING,  # the job before, and the time since
        _MISSING,
        *system.declared(job.unit_request).values(),
        *([_written(job.name)] if named else []),
    )
    return (" ".join(map(str, fields)) + "\n").encode()


def _written(name: str | None) -> str:
    """Return a name as one field: `_` stands for what a name in a log must not have."""
    if not name:
        return str(_MISSING)
    field = _NOT_IN_NAMES.sub("_", name)
    return "_1" if field == str(_MISSING) else field


def _check_target(path: Path, source: TraceSource, *, force: bool) -> None:
    if path.is_dir():
        raise _problem("cannot-write", path, "it is a directory")
    if any(path.resolve() == file.resolve() for file in source.files):
        raise _problem("cannot-write", path, "it is the trace that is to be read")
    if path.exists() and not force:
        raise _problem("file-exists", path, "it is there already; --force replaces it")


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file that takes the place of what is there once all of it is written."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as raw:
            if path.suffix == ".gz":
                # Neither name nor time in its header: the same jobs give the same bytes.
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
        unfinished.replace(path)
    except OSError as error:
        raise _problem(
            "cannot-write", path, f"it cannot be written: {error.strerror or error}"
        ) from error
    finally:
        with suppress(OSError):  # it is in place, or was never there
            unfinished.unlink()


def _problem(rule: str, path: Path, message: str) -> InputError:
    return InputError(Finding(rule, message, Place(str(path))))
