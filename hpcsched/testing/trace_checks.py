"""Checks of the protocols of trace sources and transforms."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path

from hpcsched.errors import PluginError
from hpcsched.plugins.plugin_checks import MEMBERS, product_fault
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System
from hpcsched.testing.replaying import SEEDS, expect, noted, workloads
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import GivesColumns, RequestNumbers, records_of
from hpcsched.workload.trace_source import (
    RecordsWaits,
    TraceAccount,
    TraceSource,
    account_fault,
    checked_source,
    has_dependencies,
    job_fault,
)
from hpcsched.workload.transform import Transform, TransformAccount, TransformedSource


def check_trace_source(make: Callable[[System], TraceSource], system: System) -> None:
    """Read a trace to its end, twice, and check its jobs and its account.

    Jobs must come by ascending submit time, each number once, with whole numbers of seconds and
    units, and fit on the system. Every record must be counted as submitted or skipped. A second
    reading must yield the same jobs and the same account. A uniform request, columns, recorded
    waits and dependencies must agree with the jobs. Files must exist.

    Raises
    ------
    AssertionError
        If the source is wrong.
    """
    source = make(system)
    expect(product_fault(source, "trace_source"))
    _check_attributes(source, system)
    waits = source.keep_waits() if isinstance(source, RecordsWaits) else None
    jobs = _checked_jobs(source, system)
    if not jobs:
        raise AssertionError("expected a trace with jobs that fit on the system, found none")
    # A copy: the source may go on counting in the same one.
    account = deepcopy(source.account)
    expect(account_fault(account, len(jobs)))
    for path in source.files:
        if not path.is_file():
            raise AssertionError(f"expected the paths of its input files, found {path!r} in files")
    _check_attributes(source, system)
    numbers = {traced.job.job_id for traced in jobs}
    for number, wait in (waits or {}).items():
        if number not in numbers or type(wait) is not int or wait < 0:
            raise AssertionError(
                f"keep_waits: expected whole seconds by the number of a job, found {wait!r} for"
                f" {number!r}"
            )
    if list(source.jobs()) != jobs or source.account != account:
        raise AssertionError("expected the same jobs and account when read again, found others")
    # A source that is left in the middle of the trace begins anew as well.
    next(source.jobs())
    if list(source.jobs()) != jobs:
        raise AssertionError("expected the same jobs after an interrupted reading, found others")
    if isinstance(source, GivesColumns):
        columns = [
            (job.job_id, run) for job, run in records_of(source.job_columns(RequestNumbers()))
        ]
        if columns != [(job.job_id, run_time) for job, run_time in jobs]:
            raise AssertionError("job_columns: expected the jobs of jobs(), found others")


def _check_attributes(source: TraceSource, system: System) -> None:
    """Read all attributes, as a run does."""
    reading = checked_source(source, system)
    try:
        for name in MEMBERS["trace_source"]:
            getattr(reading, name)
    except PluginError as error:
        # Without the name of the source, which is the one under test.
        raise AssertionError(str(error).partition(": ")[2]) from None


def _iterated(found: Iterable[TracedJob], method: str) -> Iterable[TracedJob]:
    if not isinstance(found, Iterable):
        raise AssertionError(f"expected {method}() to yield jobs, found {found!r}")
    return found


def _checked_jobs(source: TraceSource, system: System) -> list[TracedJob]:
    jobs: list[TracedJob] = []
    seen: set[int] = set()
    latest = 0
    for traced in _iterated(source.jobs(), "jobs"):
        expect(job_fault(traced, latest, system))
        job, whose = traced.job, f"job {traced.job.job_id}"
        if job.job_id in seen:
            raise AssertionError(f"{whose}: expected each number once, found it twice")
        if int(units_that_fit(system, system.capacity.T, job.request).sum()) < job.units:
            raise AssertionError(f"{whose}: expected a job that fits on the system, found {job}")
        uniform = source.uniform_request
        if uniform is not None and uniform != job.unit_request:
            raise AssertionError(
                f"{whose}: expected the uniform request {uniform}, found {job.unit_request}"
            )
        if job.after and not has_dependencies(source):
            raise AssertionError(
                f"{whose}: expected no 'after' without an attribute 'dependencies' that is true,"
                f" found {job.after}"
            )
        seen.add(job.job_id)
        latest = job.submit_time
        jobs.append(traced)
    return jobs


class _Given:
    """Trace source of given jobs."""

    uniform_request = None
    fraction_read = None
    files: Sequence[Path] = ()
    comments: Sequence[str] = ()

    def __init__(self, given: Sequence[TracedJob]) -> None:
        self._given = given
        self.account = TraceAccount()

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs, counted."""
        self.account = TraceAccount()
        for traced in self._given:
            self.account.read += 1
            self.account.submitted += 1
            yield traced


class _Checked(Transform):
    """Transform around another, with checks of every job."""

    def __init__(self, transform: Transform) -> None:
        self._transform = transform

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield its jobs, checked."""
        latest = 0
        for traced in _iterated(self._transform.apply(jobs, account), "apply"):
            expect(job_fault(traced, latest))
            latest = traced.job.submit_time
            yield traced


def check_transform(
    make: Callable[[], Transform],
    *,
    capabilities: Collection[str] = (),
    seeds: Iterable[int] = SEEDS,
) -> None:
    """Transform sample workloads, and check the jobs that remain and the account.

    Jobs must come by ascending submit time, with whole numbers, and keep their job numbers. Every
    job that is taken must be passed on or counted as skipped. The transform must yield the same
    jobs when it is applied again, also after an interrupted reading, and cope with no jobs. It
    must keep to its capabilities.

    Raises
    ------
    AssertionError
        If the transform is wrong; a note names the workload.
    """
    expect(product_fault(make(), "transform"))
    with noted("without jobs"):
        _transformed(make(), [])
    for workload, where in workloads(seeds):
        with noted(where):
            transform = make()
            jobs = _transformed(transform, workload.jobs)
            given = {traced.job.job_id: traced for traced in workload.jobs}
            seen: set[int] = set()
            for traced in jobs:
                number = traced.job.job_id
                if number not in given or number in seen:
                    raise AssertionError(
                        f"expected the numbers of given jobs, each once, found job {number}"
                    )
                seen.add(number)
                _check_kept(given[number], traced, capabilities)
            if KEEPS_WAITS in capabilities:
                _check_waits(given, jobs)
            # Part of the jobs, then all: state of the first reading must not be left.
            source = TransformedSource(_Given(workload.jobs), [("it", transform)], False)
            list(islice(source.jobs(), 3))
            if _transformed(transform, workload.jobs) != jobs:
                raise AssertionError("expected the same jobs when applied again, found others")


def _transformed(transform: Transform, given: Sequence[TracedJob]) -> list[TracedJob]:
    source = TransformedSource(_Given(given), [("it", _Checked(transform))], False)
    try:
        return list(source.jobs())
    except PluginError as error:
        raise AssertionError(str(error).removeprefix("transform it: ")) from None


def _check_kept(given: TracedJob, found: TracedJob, capabilities: Collection[str]) -> None:
    kept = given.job.request, found.job.request
    if KEEPS_REQUESTS in capabilities:
        before, after = (request._replace(units=1) for request in kept)
        if before != after:
            raise AssertionError(
                f"job {given.job.job_id}: expected the request of a unit kept, as"
                f" {KEEPS_REQUESTS!r} says, found {after}"
            )
    if KEEPS_WAITS in capabilities and kept[0] != kept[1]:
        raise AssertionError(
            f"job {given.job.job_id}: expected the request kept, as {KEEPS_WAITS!r} says, found"
            f" {kept[1]}"
        )


def _check_waits(given: dict[int, TracedJob], jobs: Sequence[TracedJob]) -> None:
    moves = {given[job.job_id].job.submit_time - job.submit_time for job, _ in jobs}
    if len(moves) > 1:
        raise AssertionError(
            f"expected all submit times moved alike, as {KEEPS_WAITS!r} says, found moves of"
            f" {sorted(moves)} s"
        )
