"""Common part of trace writers: targets, replacement of files, and lost information."""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from hpcsched.system.system import is_constrained
from hpcsched.whole_files import check_target, problem, replacing
from hpcsched.workload.job import Job
from hpcsched.workload.trace_source import TraceSource, recorded_waits

BOUND = "bound to nodes, exclusive or with one unit per node"
NAMES = "a name"
QUEUE_NAMES = "the name of a queue or partition"
NUMBERS = "a number of a user, group, application, queue or partition"
REQUESTS = "units that ask for something else than one core"
AFTER = "jobs to wait for"
SHARED_RESOURCES = "draws from shared resources"
WAITS = "a recorded wait time"


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing a trace.

    Attributes
    ----------
    size
        Bytes.
    bound
        Number of jobs that are bound to node groups or nodes, exclusive or with one unit per node.
    lost
        Number of jobs by kind of lost information; a job counts once for each kind.
    """

    path: Path
    jobs: int
    size: int
    bound: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)


class Losses:
    """Counts of jobs by the information that a format cannot express."""

    def __init__(self, said: Iterable[str]) -> None:
        self._said = frozenset(said)
        self.counts: Counter[str] = Counter()

    def note(self, job: Job, one_core: bool) -> None:
        """Count the information that a job loses.

        Parameters
        ----------
        one_core
            Whether a unit requests one core and nothing else.
        """
        said, counts = self._said, self.counts
        if is_constrained(job.request) and BOUND not in said:
            counts[BOUND] += 1
        if job.name is not None and NAMES not in said:
            counts[NAMES] += 1
        if QUEUE_NAMES not in said and (job.queue_name, job.partition_name) != (None, None):
            counts[QUEUE_NAMES] += 1
        numbers = job.user, job.group, job.application, job.queue, job.partition
        if NUMBERS not in said and any(number is not None for number in numbers):
            counts[NUMBERS] += 1
        if not one_core and REQUESTS not in said:
            counts[REQUESTS] += 1
        if job.after and AFTER not in said:
            counts[AFTER] += 1
        if job.shared_requests and SHARED_RESOURCES not in said:
            counts[SHARED_RESOURCES] += 1


def kept_waits(source: TraceSource) -> Mapping[int, int]:
    """Return the recorded wait times by job number, which the source fills while it is read."""
    waits = recorded_waits(source)
    # Not `or`: the mapping is empty before the first job.
    return {} if waits is None else waits


def check_trace_target(path: Path, source: TraceSource, *, force: bool) -> None:
    """Raise InputError for a target that is a file of the source, or exists without `force`."""
    if any(path.resolve() == file.resolve() for file in source.files):
        raise problem("cannot-write", path, "it is the trace that is to be read")
    check_target(path, force=force)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces the target once all of it is written.

    Parameters
    ----------
    path
        Target; gzip if its name ends in `.gz`.

    Raises
    ------
    InputError
        If the file cannot be written; the target is unchanged then.
    """
    with replacing(path) as unfinished, unfinished.open("wb") as raw:
        if path.suffix == ".gz":
            # Neither name nor time in its header: the same jobs give the same bytes.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield raw
