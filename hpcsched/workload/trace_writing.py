"""Writers of traces: Standard Workload Format, and Parquet tables.

The trace sources `swf` and `table` read them back. Equal jobs give equal bytes, tables with the
same version of Arrow. After an error the file is unchanged.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from hpcsched.system.system import System, is_constrained
from hpcsched.whole_files import check_target, file_error, replacing
from hpcsched.workload.job import BOUNDS, NUMBERED, TEXTS, Job, TracedJob
from hpcsched.workload.readers.swf import JOB_NAMES, UNIT_RESOURCES
from hpcsched.workload.trace_calendar import time_comments
from hpcsched.workload.trace_source import TraceSource, recorded_waits

if TYPE_CHECKING:
    import pyarrow as pa

BOUND = "bound to nodes, exclusive or with one unit per node"
NAMES = "a name"
QUEUE_NAMES = "the name of a queue or partition"
AFTER = "jobs to wait for"
SHARED_RESOURCES = "draws from shared resources"
WAITING = "a begin time or a withdrawal"
WAITS = "a recorded wait time"

_LOSSES: Mapping[str, Callable[[Job], bool]] = {
    BOUND: lambda job: is_constrained(job.request),
    NAMES: lambda job: job.name is not None,
    QUEUE_NAMES: lambda job: (job.queue_name, job.partition_name) != (None, None),
    AFTER: lambda job: bool(job.after),
    SHARED_RESOURCES: lambda job: bool(job.shared_requests),
    WAITING: lambda job: bool(job.begin_delay) or job.patience is not None,
}
"""Information of a job by its kind, which a format may not be able to express."""

_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing a trace.

    Attributes
    ----------
    size
        Bytes.
    lost
        Number of jobs by kind of lost information; a job counts once for each kind.
    """

    path: Path
    jobs: int
    size: int
    lost: Mapping[str, int] = field(default_factory=dict)


class _Writing:
    """Jobs of a source that are written, with counts of jobs and of lost fields.

    Attributes
    ----------
    waits
        Recorded wait times by job number, which the source fills while it is read.
    losses
        Number of jobs by kind of lost information.
    """

    def __init__(
        self, path: Path, source: TraceSource, kept: Iterable[str], *, force: bool
    ) -> None:
        if any(path.resolve() == file.resolve() for file in source.files):
            raise file_error("cannot-write", path, "it is the trace that is to be read")
        check_target(path, force=force)
        waits = recorded_waits(source)
        # Not `or`: the mapping is empty before the first job.
        self.waits: Mapping[int, int] = {} if waits is None else waits
        self.count = 0
        self.losses: Counter[str] = Counter()
        self._lost = {kind: of for kind, of in _LOSSES.items() if kind not in kept}
        self._path, self._source = path, source

    def jobs(self, limit: int | None) -> Iterator[TracedJob]:
        """Yield the jobs, counting each when the next one is asked for."""
        for traced in islice(self._source.jobs(), limit):
            yield traced
            self.count += 1
            self.losses.update(kind for kind, loses in self._lost.items() if loses(traced.job))

    def written(self) -> Written:
        """Return the result."""
        lost = {kind: n for kind in (*_LOSSES, WAITS) if (n := self.losses[kind])}
        return Written(self._path, self.count, self._path.stat().st_size, lost)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces the target once all of it is written."""
    with replacing(path) as unfinished, unfinished.open("wb") as raw:
        if path.suffix == ".gz":
            # Neither name nor time in its header: the same jobs give the same bytes.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield raw


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
    names of later jobs are not written.

    Parameters
    ----------
    path
        Target; gzip if its name ends in `.gz`.
    limit
        Maximum number of jobs; None: all.
    """
    writing = _Writing(path, source, (NAMES, AFTER), force=force)
    jobs = writing.jobs(limit)
    first = next(jobs, None)  # the header has been read then
    named = first is not None and first.job.name is not None
    with _opened(path) as file:
        for comment in _header(source.comments, system, note, named=named, kept=keep_comments):
            file.write(f"; {comment}\n".encode())
        for traced in chain([] if first is None else [first], jobs):
            job, wait = traced.job, writing.waits.get(traced.job.job_id, _MISSING)
            file.write(_record(traced, wait, system, named=named))
            writing.losses[NAMES] += job.name is not None and not (
                named and _written(job.name) == job.name
            )
            writing.losses[AFTER] += len(job.after) > 1
    return writing.written()


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


_TIMES = ("job_id", "submit_time", "run_time", "requested_time", "units")


def write_table(
    path: Path,
    source: TraceSource,
    system: System,
    *,
    note: str,
    limit: int | None = None,
    force: bool = False,
) -> Written:
    """Write the jobs of a source, in their order, as a Parquet table.

    Columns have the names of the glossary. `unit_request` is a structure with a field for each
    resource type of the system, as declared. The file's metadata keep the trace's comments.

    Parameters
    ----------
    limit
        Maximum number of jobs; None: all.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 (other formats do without)

    writing = _Writing(path, source, (BOUND, NAMES, QUEUE_NAMES), force=force)
    jobs = writing.jobs(limit)
    # A Parquet schema with the comments comes before the first row.
    first = list(islice(jobs, _BATCH))  # the comments have been read then
    # A column of nothing would be there for logs that record no waits.
    started = bool(writing.waits)
    schema = _schema(system, source.comments, note, started=started)
    with _opened(path) as file, pq.ParquetWriter(file, schema) as writer:
        batch = first
        while batch:
            writer.write_table(_table(batch, system, schema, writing.waits))
            if not started:
                numbers = (traced.job.job_id for traced in batch)
                writing.losses[WAITS] += sum(number in writing.waits for number in numbers)
            batch = list(islice(jobs, _BATCH))
    return writing.written()


def _schema(system: System, comments: Sequence[str], note: str, *, started: bool) -> "pa.Schema":
    import pyarrow as pa  # noqa: PLC0415

    from hpcsched.workload.readers.parquet_rows import COMMENTS_KEY  # noqa: PLC0415

    whole, text = pa.int64(), pa.string()
    kinds = {"names": pa.list_(text), "numbers": pa.list_(whole), "flag": pa.bool_()}
    amounts = pa.struct([pa.field(n, whole, nullable=False) for n in system.resource_types])
    return pa.schema(
        [
            *(pa.field(name, whole, nullable=False) for name in _TIMES),
            *([("start_time", whole)] if started else []),
            pa.field("unit_request", amounts, nullable=False),
            *((name, whole) for name in NUMBERED),
            *((name, text) for name in TEXTS),
            *(pa.field(c.name, kinds[c.kind], nullable=c.nullable) for c in BOUNDS),
        ],
        metadata={COMMENTS_KEY: "\n".join([*comments, f"Note: {note}"]).encode()},
    )


def _table(
    batch: Sequence[TracedJob], system: System, schema: "pa.Schema", waits: Mapping[int, int]
) -> "pa.Table":
    """Return rows of the table; the schema decides whether start times are in them."""
    import pyarrow as pa  # noqa: PLC0415

    rows: list[dict[str, Any]] = []
    for job, run_time in batch:
        wait = waits.get(job.job_id)
        rows.append(
            {
                **{name: getattr(job, name) for name in (*NUMBERED, *TEXTS)},
                "job_id": job.job_id,
                "submit_time": job.submit_time,
                "start_time": None if wait is None else job.submit_time + wait,
                "run_time": run_time,
                "requested_time": job.requested_time,
                "units": job.units,
                "unit_request": system.declared(job.unit_request),
                **{column.name: column.told(column.get(job.request)) for column in BOUNDS},
            }
        )
    return pa.Table.from_pylist(rows, schema=schema)
