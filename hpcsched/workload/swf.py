"""Trace source `swf`: the Standard Workload Format 2.2 of the Parallel Workloads Archive.

Format: Feitelson, Tsafrir, Krakov, *Experience with using the Parallel Workloads Archive*, 2014; 18
whitespace-separated fields a line, comments after `;`, `-1` for what is not given.

Extension: a header comment `; UnitResources: core mem gpu` says that each record has as many
further fields, the amounts of these resource types that one requested processor stands for.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST, Amount, InputPath, Params, PositiveDuration
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.account import TraceAccount
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.numbers_seen import NumbersSeen
from hpcsched.workload.swf_lines import SwfLines

FIELDS = 18
UNIT_RESOURCES = "UnitResources:"

_USED = itemgetter(0, 1, 3, 4, 7, 8, 11, 12, 13, 14, 15)
"""Job, submit, run time, processors allocated and requested, requested time, user to partition."""


class SwfParams(Params):
    """Which log to read, and what to do with records that cannot be used as they are."""

    path: InputPath = Field(description="The log, plain or gzip; ${VAR} is filled in.")
    unit: dict[str, Amount] | None = Field(
        None,
        description="What each requested processor asks for, per resource type: it is one job unit."
        " Without it, what the trace's UnitResources say, or else one core.",
    )
    jobs: int | None = Field(None, ge=1, description="Stop after so many jobs; all if not given.")
    zero_run_time: Literal["skip", "keep"] = Field(
        "skip", description="What to do with a job that ran for 0 seconds."
    )
    over_requested_time: Literal["clip", "keep"] = Field(
        "clip",
        description="What to do with a run time over the requested time: cut it, or keep it.",
    )
    missing_run_time: Literal["skip", "error"] = Field(
        "skip", description="What to do with a job whose run time is not given."
    )
    missing_processors: Literal["allocated", "skip", "error"] = Field(
        "allocated",
        description="What stands in for requested processors that are not given: those allocated,"
        " if given.",
    )
    missing_requested_time: Literal["run_time", "skip", "error"] | PositiveDuration = Field(
        "error",
        description="What stands in for a requested time that is not given: the run time, or a"
        " duration in seconds or with a unit.",
    )
    larger_than_system: Literal["skip", "error"] = Field(
        "skip", description="What to do with a job that does not fit on the idle system."
    )
    unsorted: Literal["error", "skip", "sort"] = Field(
        "error",
        description="What to do with a record submitted before its predecessor; to sort, the whole"
        " trace is read into memory first.",
    )
    malformed: Literal["error", "skip"] = Field(
        "error",
        description="What to do with a line that is no record: wrong number of fields, not numbers,"
        " no submit time, a job number seen before.",
    )

    @field_validator("unit")
    @classmethod
    def _unit_asks_for_something(cls, unit: dict[str, int] | None) -> dict[str, int] | None:
        if unit is not None and not any(unit.values()):
            raise ValueError("expected an amount of at least one resource type, found none")
        return unit


class SwfSource:
    """Streams the jobs of a log.

    Every record that is read counts once in the account: submitted, or skipped for the first of
    these reasons that applies: `malformed`, `unsorted`, `missing_run_time`, `zero_run_time`,
    `missing_processors`, `missing_requested_time`, `larger_than_system`; or `after_first_jobs`,
    where a log had to be sorted before its first jobs were known.
    """

    def __init__(self, params: SwfParams, system: System) -> None:
        self.account = TraceAccount()
        self._params = params
        self._system = system
        self._lines = SwfLines(Path(params.path))
        next(self._lines.records(), None)  # reads the header
        declared = _declared_types(self.comments)
        self._field_count = FIELDS + len(declared)
        self._types = [] if params.unit else declared
        amounts = dict.fromkeys(self._types, 0) if self._types else params.unit or {"core": 1}
        self._check_types(amounts)
        self.uniform_request = None if self._types else system.request(amounts)
        self._requests: dict[tuple[bytes, ...], tuple[tuple[int, ...], int]] = {}

    @property
    def comments(self) -> Sequence[str]:
        """The header comments of the log."""
        return self._lines.comments

    @property
    def files(self) -> Sequence[Path]:
        """The log."""
        return [self._lines.path]

    @property
    def fraction_read(self) -> float:
        """How much of the log has been read, from 0 to 1."""
        return self._lines.fraction_read

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError at the first record that a policy calls an error."""
        self.account = TraceAccount()
        jobs, limit = self._read(), self._params.jobs
        if self._params.unsorted == "sort":
            in_order = sorted(jobs, key=lambda traced: traced.job.submit_time)
            if limit is not None and limit < len(in_order):
                self.account.skipped["after_first_jobs"] = len(in_order) - limit
            jobs = iter(in_order)
        for traced in islice(jobs, limit):
            self.account.submitted += 1
            yield traced

    def _read(self) -> Iterator[TracedJob]:
        """Yield what can be used, in the order of the log."""
        account, sort = self.account, self._params.unsorted == "sort"
        seen = NumbersSeen()
        earliest = 0
        for number, line in self._lines.records():
            account.read += 1
            try:
                traced = self._parse(line, seen, earliest)
            except _UnusableError as problem:
                self._skip(problem, number)
            else:
                if not sort:
                    earliest = traced.job.submit_time
                yield traced

    def _numbers(self, line: bytes) -> tuple[list[int], list[bytes]]:
        """Return the numbers of a record that are used, and the fields beyond the standard's.

        Raises _UnusableError if the line is no record.
        """
        fields = line.split()
        if len(fields) != self._field_count:
            raise _UnusableError(
                "malformed", f"expected {self._field_count} fields, found {len(fields)}"
            )
        if b"_" in line:  # int() would take it for a separator of digits
            raise _UnusableError("malformed", "expected whole numbers, found '_'")
        try:
            numbers = list(map(int, _USED(fields)))
        except ValueError as error:
            raise _UnusableError("malformed", f"expected whole numbers: {error}") from None
        if max(numbers) > LARGEST:
            raise _UnusableError("malformed", f"expected numbers up to {LARGEST}")
        return numbers, fields[FIELDS:]

    def _parse(self, line: bytes, seen: NumbersSeen, earliest: int) -> TracedJob:
        """Return the job of a record; raises _UnusableError if there is none."""
        (
            job_id, submit_time, run_time, allocated, units, requested_time,
            user, group, application, queue, partition,
        ), amounts = self._numbers(line)  # fmt: skip
        if job_id < 0 or submit_time < 0:
            raise _UnusableError("malformed", "expected a job number and a submit time, found -1")
        if not seen.add(job_id):
            raise _UnusableError("malformed", f"job number {job_id} was seen before")
        if submit_time < earliest:
            raise _UnusableError(
                "unsorted",
                f"expected a submit time of at least {earliest}, as the job before has,"
                f" found {submit_time}",
            )
        if run_time <= 0:
            if run_time < 0:
                raise _UnusableError("missing_run_time", "no run time is given")
            if self._params.zero_run_time == "skip":
                raise _UnusableError("zero_run_time", "the run time is 0")
        if units <= 0:
            units = allocated
            if units <= 0 or self._params.missing_processors != "allocated":
                raise _UnusableError("missing_processors", "no requested processors are given")
        if requested_time <= 0:
            requested_time = self._missing_requested_time(run_time)
        request, room = self._request(tuple(amounts) if self._types else ())
        if units > room:
            raise _UnusableError(
                "larger_than_system", f"{units} units are requested, and at most {room} fit"
            )
        if run_time > requested_time and self._params.over_requested_time == "clip":
            run_time = requested_time
            self.account.clipped["over_requested_time"] += 1
        job = Job(
            job_id,
            submit_time,
            units,
            request,
            requested_time,
            user if user >= 0 else None,
            group if group >= 0 else None,
            application if application >= 0 else None,
            queue if queue >= 0 else None,
            partition if partition >= 0 else None,
        )
        return TracedJob(job, run_time)

    def _missing_requested_time(self, run_time: int) -> int:
        policy = self._params.missing_requested_time
        if isinstance(policy, int):
            return policy
        if policy == "run_time":
            return run_time
        raise _UnusableError("missing_requested_time", "no requested time is given")

    def _request(self, amounts: tuple[bytes, ...]) -> tuple[tuple[int, ...], int]:
        """Return a record's unit request, and how many such units fit on the idle system."""
        known = self._requests.get(amounts)
        if known is None:
            known = self._requests[amounts] = self._new_request(amounts)
        return known

    def _new_request(self, amounts: tuple[bytes, ...]) -> tuple[tuple[int, ...], int]:
        if self.uniform_request is not None:
            request = self.uniform_request
        else:
            try:
                numbers = [max(int(amount), 0) for amount in amounts]
            except ValueError as error:
                raise _UnusableError("malformed", f"expected whole numbers: {error}") from None
            if max(numbers) > LARGEST:
                raise _UnusableError("malformed", f"expected numbers up to {LARGEST}")
            request = self._system.request(dict(zip(self._types, numbers, strict=True)))
        if not any(request):
            raise _UnusableError("malformed", "a unit must ask for at least one resource type")
        return request, room_for(self._system, request)

    def _skip(self, problem: "_UnusableError", number: int) -> None:
        """Count a record that cannot be used, or raise InputError if the policy says so."""
        reason = problem.reason
        if getattr(self._params, reason) == "error":
            raise InputError(
                Finding(
                    reason.replace("_", "-"),
                    f"{problem}; the policy {reason!r} of the trace source says what else to do",
                    Place(str(self._lines.path), number),
                )
            )
        self.account.skipped[reason] += 1

    def _check_types(self, amounts: Mapping[str, int]) -> None:
        unknown = [name for name in amounts if name not in self._system.resource_types]
        if unknown:
            raise InputError(
                Finding(
                    "unknown-resource-type",
                    f"a unit asks for {', '.join(unknown)}, which no node group has; there are:"
                    f" {', '.join(self._system.resource_types)}",
                    Place(str(self._lines.path)),
                    key="trace.unit",
                )
            )


def types_in_records(path: Path) -> list[str]:
    """Return the resource types that a log's records state amounts of; none if it is not there."""
    if not path.is_file():
        return []
    lines = SwfLines(path)
    try:
        next(lines.records(), None)
    except InputError:  # the run will say so
        return []
    return _declared_types(lines.comments)


def _declared_types(comments: Sequence[str]) -> list[str]:
    for comment in comments:
        if comment.startswith(UNIT_RESOURCES):
            return comment.removeprefix(UNIT_RESOURCES).split()
    return []


class _UnusableError(Exception):
    """A record that gives no job; the reason is the name of the policy that decides on it."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
