"""Transforms, which change a trace between the source and the simulator; the source behind them."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from pydantic import Field

from hpcsched._core import NumbersSeen
from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_calendar import moved_comments
from hpcsched.workload.trace_source import (
    UNKNOWN_PRECEDING,
    TraceAccount,
    TraceAnswer,
    TraceSource,
    answer_again,
    answers_of,
    has_dependencies,
    job_fault,
    out_of_order,
    recorded_waits,
    without_unknown,
)


class TransformAccount:
    """Account of one transform, and its view of the trace.

    Attributes
    ----------
    counts
        `read` counts incoming jobs and `submitted` outgoing ones; the caller of the transform
        counts both.
    origin
        Seconds by which second 0 was moved.
    ended
        Reason why no more jobs are wanted; None if there is none.
    """

    def __init__(self, comments: Callable[[], Sequence[str]] = tuple) -> None:
        self.counts = TraceAccount()
        self.origin = 0
        self.ended: str | None = None
        self._comments = comments

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace, complete once a job has been taken."""
        return self._comments()

    def skip(self, reason: str) -> None:
        """Count a job that is removed; the reason names the transform or the kind of job."""
        self.counts.skipped[reason] += 1

    def change(self, reason: str) -> None:
        """Count a job that is passed on with a change."""
        self.counts.changed[reason] += 1

    def clip(self, policy: str) -> None:
        """Count a job that is passed on with less than the transform would have given it."""
        self.counts.clipped[policy] += 1

    def move_origin(self, seconds: int) -> None:
        """Move second 0, so that dates stay as they were.

        Parameters
        ----------
        seconds
            Old time of the new second 0.
        """
        self.origin = seconds

    def end(self, reason: str) -> None:
        """Declare that no more jobs will be taken, although there may be some."""
        self.ended = reason


class Transform(Protocol):
    """Change of a stream of jobs, with an account of every removed or changed job.

    It holds no more of the trace than necessary, and keeps nothing from one call of `apply` to the
    next, since a trace may be read several times.
    """

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the remaining jobs, unchanged or changed, by ascending submit time.

        Job numbers stay, and no job is added. A transform that stops before the end of the jobs
        calls `account.end`.

        Parameters
        ----------
        jobs
            The jobs, by ascending submit time.

        Returns
        -------
        Iterator[TracedJob]
            Jobs by ascending submit time, in whole seconds; a job that is neither yielded nor
            counted ends the run.

        Raises
        ------
        InputError
            If the trace cannot be transformed.
        """


class SeededParams(Params):
    """Parameters of a transform that draws by the number of a job or of a user."""

    seed: int = Field(0, ge=0)
    """Seed of the draw, beside the scenario's."""


def own_seed(*labels: int | str) -> int:
    """Return a number from 0 to 2⁶⁴ − 1 that depends on labels alone, the same on every machine."""
    return int.from_bytes(sha256("/".join(map(str, labels)).encode()).digest()[:8])


def own_share(*labels: int | str) -> float:
    """Return a number from [0, 1) that depends on labels alone, uniformly distributed over them."""
    return (own_seed(*labels) >> 11) / 2**53  # the bits of a float


@dataclass(slots=True)
class _Stage:
    """Transform in use: its name, its account, and its state."""

    name: str
    transform: Transform
    account: TransformAccount
    first_submit_time: int | None = None
    exhausted: bool = False

    @property
    def on_its_way(self) -> int:
        """Number of jobs that it has taken and neither passed on nor counted as skipped."""
        counts = self.account.counts
        return counts.read - counts.submitted - counts.skipped.total()

    def comments(self, before: Sequence[str]) -> Sequence[str]:
        """Return the header comments after the transform, from those before it."""
        return moved_comments(before, self.account.origin, self.first_submit_time or 0)


@dataclass(slots=True)
class TransformedSource:
    """Trace source with transforms, which its jobs pass one after the other, on demand.

    Attributes
    ----------
    keeps_requests
        Whether no transform changes requests or restrictions of units.
    system
        The system, for the check of jobs that a third party's transform changes; None: unknown.
    """

    source: TraceSource
    transforms: Sequence[tuple[str, Transform]]
    keeps_requests: bool
    system: System | None = None
    _stages: list[_Stage] = field(init=False, default_factory=list)
    _left_out: Counter[str] = field(init=False, default_factory=Counter)

    @property
    def dependencies(self) -> bool:
        """True if jobs may wait for others to end, as those of the source may."""
        return has_dependencies(self.source)

    def keep_waits(self) -> dict[int, int] | None:
        """Return the wait times that the source records, if any; see `RecordsWaits`."""
        return recorded_waits(self.source)

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far, in the source and in the transforms.

        Jobs between them count as submitted.
        """
        account = self.source.account
        parts = [account, *(stage.account.counts for stage in self._stages)]
        skipped = _sum([part.skipped for part in parts])
        return TraceAccount(
            account.read,
            account.read - skipped.total(),
            skipped,
            _sum([*(part.clipped for part in parts), self._left_out]),
            _sum([part.changed for part in parts]),
            account.faults,
        )

    @property
    def comments(self) -> Sequence[str]:
        """Header of the source, with second 0 in its new place, and the transforms' names."""
        names = ", ".join(name for name, _ in self.transforms)
        note = f"Note: transformed by hpcsched: {names}"
        return [*self._comments(len(self._stages)), note]

    @property
    def files(self) -> Sequence[Path]:
        """Input files of the source."""
        return self.source.files

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return the answers that the source reads in place of files."""
        return answers_of(self.source)

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Have the source read the answers of an earlier run."""
        answer_again(self.source, answers)

    @property
    def uniform_request(self) -> tuple[int, ...] | None:
        """Unit request of all jobs of the source, unless a transform may change requests."""
        return self.source.uniform_request if self.keeps_requests else None

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the source that has been read; 1 if no more is needed, None if unknown."""
        if any(stage.account.ended is not None for stage in self._stages):
            return 1.0
        return self.source.fraction_read

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the transformed jobs by ascending submit time."""
        stages: list[_Stage] = []
        read = jobs = self.source.jobs()
        self._stages, self._left_out = stages, Counter()
        for k, (name, transform) in enumerate(self.transforms):
            account = TransformAccount(lambda k=k: self._comments(k))  # type: ignore[misc]
            stages.append(_Stage(name, transform, account))
            jobs = self._through(k, jobs)
        try:
            yield from self._without_unknown(jobs) if self.dependencies else jobs
        finally:
            # Where a transform raises, the file of the source would stay open.
            if isinstance(read, Generator):
                read.close()

    def _without_unknown(self, jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
        """Yield jobs without dependencies on jobs that do not come before them; count those."""
        seen = NumbersSeen()
        for traced in jobs:
            job = without_unknown(traced.job, seen)
            if job is not traced.job:
                self._left_out[UNKNOWN_PRECEDING] += 1
            yield traced._replace(job=job)

    def _comments(self, count: int) -> Sequence[str]:
        """Return the header after the first `count` transforms."""
        comments = self.source.comments
        for stage in self._stages[:count]:
            comments = stage.comments(comments)
        return comments

    def _through(self, k: int, jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
        """Yield the jobs behind a transform, with checks of their order and of the account."""
        stage = self._stages[k]
        counts, latest = stage.account.counts, 0
        told = named("transform", stage.transform, stage.name)
        checks = is_third_party(stage.transform)
        # Only for third parties: numbers cost memory.
        taken = NumbersSeen() if checks else None
        passed = NumbersSeen()
        remaining = stage.transform.apply(_taken(stage, jobs, taken), stage.account)
        if not isinstance(remaining, Iterable):
            raise PluginError(f"{told}: expected apply() to yield jobs, found {remaining!r}")
        for traced in remaining:
            fault = job_fault(traced, latest, self.system) if checks else None
            if fault is None and taken is not None:
                fault = _number_fault(traced.job.job_id, taken, passed)
            if fault is None and traced.job.submit_time < latest:
                fault = out_of_order(traced, latest)
            if fault is not None:
                raise PluginError(f"{told}: {fault}")
            latest = traced.job.submit_time
            counts.submitted += 1
            yield traced
        if stage.account.ended is not None:
            left = self._on_the_way_to(k)
            # Without this test a Counter would gain a reason with the count 0.
            if left:
                counts.skipped[stage.account.ended] += left
        elif stage.on_its_way or not stage.exhausted:
            raise PluginError(
                f"{told}: expected every job passed on or counted as taken away, found"
                f" {stage.on_its_way} that were neither, and"
                f" {'all' if stage.exhausted else 'not all'} jobs read"
            )

    def _on_the_way_to(self, k: int) -> int:
        """Return the number of records read that neither passed a transform nor were skipped."""
        account, stages = self.source.account, self._stages[: k + 1]
        skipped = account.skipped.total()
        skipped += sum(stage.account.counts.skipped.total() for stage in stages)
        return account.read - skipped - stages[-1].account.counts.submitted


def _number_fault(number: int, taken: NumbersSeen, passed: NumbersSeen) -> str | None:
    """Return why a job is not one that a transform was given, passed on once; None if it is."""
    if number not in taken:
        return f"expected the jobs that it was given, found one with the number {number}"
    if not passed.add(number):
        return f"expected each job once, found job {number} twice"
    return None


def _taken(
    stage: _Stage, jobs: Iterator[TracedJob], numbers: NumbersSeen | None
) -> Iterator[TracedJob]:
    """Yield the jobs that a transform asks for, counting them, and note their numbers."""
    counts = stage.account.counts
    for traced in jobs:
        if stage.first_submit_time is None:
            stage.first_submit_time = traced.job.submit_time
        counts.read += 1
        if numbers is not None:
            numbers.add(traced.job.job_id)
        yield traced
    stage.exhausted = True


def _sum(counters: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total
