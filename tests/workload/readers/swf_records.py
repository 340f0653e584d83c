"""A reader of the Standard Workload Format that reads one record after the other."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path

from hpcsched._core import NumbersSeen
from hpcsched.parameters import LARGEST
from hpcsched.system.space import room_for
from hpcsched.system.system import Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.equal_units import processors_per_node, whole_nodes
from hpcsched.workload.readers.log_source import check_draws, check_types
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.swf import SwfParams, declared_types, parted
from hpcsched.workload.readers.swf_lines import DURATIONS, SwfLines, wait_time, whole_numbers
from hpcsched.workload.readers.text_files import TextEncoding
from hpcsched.workload.trace_source import UNKNOWN_PRECEDING, without_unknown
from tests.workload.readers.record_reference import RecordSource

FIELDS = 18
JOB_NAMES = "JobNames:"
NO_NAME = b"-1"

_USED = (0, 1, 3, 4, 7, 8, 11, 12, 13, 14, 15)
"""Job, submit, run time, processors allocated and requested, requested time, user to partition."""
_MEMORY = 9
_PRECEDING = (16, 17)
"""Fields of the preceding job's number and of the think time after it."""


_Asked = tuple[tuple[bytes, ...], int]
"""Request of one processor in a record: amounts of the declared types, and memory in KiB."""

_Request = tuple[tuple[int, ...], int, dict[str, int], dict[str, int]]
"""Unit request, number of such units on the idle system, declared amounts, shared draws."""


class SwfRecords(RecordSource):
    """Stream of the jobs of a log, each record by itself."""

    def __init__(self, params: SwfParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        lines = SwfLines(Path(params.path), encoding)
        super().__init__(params, system, lines, encoding)
        self._params = params
        lines.read_header()
        declared = declared_types(self.comments)
        self._named = [JOB_NAMES, "last"] in map(str.split, self.comments)
        self._number_count = FIELDS + len(declared)
        self._field_count = self._number_count + self._named
        self._types = [] if params.unit else declared
        self._unit = dict.fromkeys(self._types, 0) if self._types else params.unit or {"core": 1}
        self._check_amounts(self._unit)
        self._uses_memory = params.requested_memory == "use"
        if self._uses_memory:
            self._check_amounts({"mem": 0})
        self.dependencies = params.dependencies == "honour"
        more = (_MEMORY,) * self._uses_memory + _PRECEDING * self.dependencies
        self._fields_used = (*_USED, *more)
        self._durations = (*DURATIONS, *_PRECEDING[1:]) if self.dependencies else DURATIONS
        self._used = itemgetter(*self._fields_used)
        self._whole_nodes = params.mapping == "whole_nodes"
        if not (self._types or self._whole_nodes or self._uses_memory):
            self.uniform_request = system.request(parted(self._unit, system)[0])
        self._requests: dict[tuple[_Asked, int], _Request] = {}

    def parse(self, line: bytes) -> TracedJob:
        """Return the job of a record.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """
        (
            job_id, submit_time, run_time, allocated, units, requested_time,
            user, group, application, queue, partition, *more,
        ), amounts = self._numbers(line)  # fmt: skip
        name = amounts.pop() if self._named else NO_NAME
        self.check_submission(job_id, submit_time)
        self.check_run_time(run_time)
        # Neither -1 nor 0 is a number of processors.
        if units <= 0:
            units = allocated
            if units <= 0 or self._params.missing_processors != "allocated":
                raise UnusableError("missing_processors", "no requested processors are given")
        requested_time = self.requested_time(requested_time, run_time)
        key = tuple(amounts) if self._types else (), more[0] if self._uses_memory else 0
        units, (request, room, declared, drawn) = self._units(units, key)
        if units > room:
            self.check_room(units, room, declared)
        job = Job(
            job_id,
            submit_time,
            Request(units=units, unit_request=request),
            requested_time,
            user if user >= 0 else None,
            group if group >= 0 else None,
            application if application >= 0 else None,
            queue if queue >= 0 else None,
            partition if partition >= 0 else None,
        )
        if name != NO_NAME:
            job = job._replace(name=_name(name))
        if self.dependencies:
            preceding, think_time = more[-2:]
            if preceding > 0:
                job = job._replace(after=(preceding,), think_time=max(think_time, 0))
        if drawn:
            requests = tuple(
                (resource, amount * units) for resource, amount in drawn.items() if amount
            )
            job = job._replace(request=job.request._replace(shared_requests=requests))
        if self.keeps_waits:
            self.note_wait(job_id, wait_time(line))
        if run_time > requested_time:
            run_time = self.clipped(run_time, requested_time)
        return TracedJob(job, run_time)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError at the first record that a policy calls an error."""
        if not self.dependencies:
            yield from super().jobs()
            return
        seen = NumbersSeen()
        for traced in super().jobs():
            job = without_unknown(traced.job, seen)
            if job is not traced.job:
                self.account.clipped[UNKNOWN_PRECEDING] += 1
            yield traced._replace(job=job)

    def _has_separators(self, line: bytes) -> bool:
        """Return whether a number contains `_`, which int() accepts as a separator of digits.

        A name may contain it.
        """
        return b"_" in line and any(b"_" in field for field in line.split()[: self._number_count])

    def _numbers(self, line: bytes) -> tuple[list[int], list[bytes]]:
        """Return the used numbers of a record, and the fields beyond the standard's.

        Raises
        ------
        UnusableError
            If the line is no record.
        """
        fields = line.split()
        if len(fields) != self._field_count:
            raise UnusableError(
                "malformed", f"expected {self._field_count} fields, found {len(fields)}"
            )
        if self._has_separators(line):
            raise UnusableError("malformed", "expected whole numbers, found '_'")
        try:
            numbers = list(map(int, self._used(fields)))
        except ValueError:
            numbers = whole_numbers(fields, self._fields_used, self._durations, self.seconds)
        if max(numbers) > LARGEST:
            raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
        return numbers, fields[FIELDS:]

    def _units(self, processors: int, asked: _Asked) -> tuple[int, _Request]:
        """Return the number of units for a number of processors, and the request of each unit."""
        size = 1
        if self._whole_nodes:
            per_node = processors_per_node(self.system, self._request(asked, 1)[0])
            if per_node:
                processors, size = whole_nodes(processors, per_node)
        return processors, self._request(asked, size)

    def _request(self, asked: _Asked, size: int) -> _Request:
        """Return the request of a unit of `size` processors, from the request of one processor."""
        known = self._requests.get((asked, size))
        if known is None:
            known = self._requests[asked, size] = self._new_request(*asked, size)
        return known

    def _new_request(self, amounts: tuple[bytes, ...], memory: int, size: int) -> _Request:
        declared = self._unit
        if self._types:
            try:
                numbers = [max(int(amount), 0) for amount in amounts]
            except ValueError as error:
                raise UnusableError("malformed", f"expected whole numbers: {error}") from None
            if max(numbers) > LARGEST:
                raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
            declared = dict(zip(self._types, numbers, strict=True))
        if memory > 0:
            declared = {**declared, "mem": memory * 1024}
        declared = {name: amount * size for name, amount in declared.items()}
        declared, drawn = parted(declared, self.system)
        request = self.system.request(declared)
        if not any(request):
            raise UnusableError("malformed", "a unit must ask for at least one resource type")
        return request, room_for(self.system, request), declared, drawn

    def _check_amounts(self, amounts: Mapping[str, int]) -> None:
        """Raise InputError for unknown types, and for shared resources with their own model."""
        shared_resources = check_draws(self.system, amounts, self.lines.path, "trace.unit")
        own = [name for name in amounts if name not in shared_resources]
        check_types(self.system, own, self.lines.path, "trace.unit")


def _name(field: bytes) -> str | None:
    return None if field == NO_NAME else field.decode("utf-8", "replace")
