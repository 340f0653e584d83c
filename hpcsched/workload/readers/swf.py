"""Trace source `swf`: the Standard Workload Format 2.2 of the Parallel Workloads Archive.

Format: Feitelson, Tsafrir, Krakov, *Experience with using the Parallel Workloads Archive*, 2014; 18
whitespace-separated fields a line, comments after `;`, `-1` for missing values.

Extensions: a header comment `; UnitResources: core mem gpu` announces as many further fields in
each record, the amounts of these resource types for one requested processor. It may name a shared
resource (shared resource) of the system, too, from which jobs draw the amount in the trace. A
header comment `; JobNames: last` announces one more field, the last: the job's name, `-1` for none.

Fields 17 and 18, the preceding job and the think time, are used with `dependencies: honour`.
According to the format a job can start only when the preceding one has ended, and the think time is
the time between that end and its submission. A replay with unchanged submit times includes that
time already; here the job may start no sooner than the think time after the preceding job's end in
the simulation.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import Field

from hpcsched._core import NumbersSeen, Verdict
from hpcsched.context import Context
from hpcsched.errors import InputError
from hpcsched.parameters import LARGEST, UnitAmounts
from hpcsched.registration import RECORDS_WAITS, Caution, builtin
from hpcsched.system.space import room_for
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.readers.equal_units import processors_per_node, whole_nodes
from hpcsched.workload.readers.log_source import (
    Block,
    ReadRequest,
    VerdictArray,
    check_draws,
    check_types,
)
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.swf_lines import (
    DURATIONS,
    Lines,
    LineSource,
    SwfLines,
    distinct,
    header_machine,
    other_machine,
    whole_numbers,
)
from hpcsched.workload.readers.text_files import TextEncoding
from hpcsched.workload.trace_source import UNKNOWN_PRECEDING

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns


UNIT_RESOURCES = "UnitResources:"


class SwfParams(RecordPolicies):
    """Parameters of `swf`: the log, and policies for records that cannot be used as they are."""

    unit: UnitAmounts | None = Field(
        None,
        description="Request of each processor, by resource type; by default the header's"
        " UnitResources, else one core.",
    )
    mapping: Literal["one_each", "whole_nodes"] = Field(
        "one_each",
        description="Meaning of a requested processor: a job unit each, or a part of units that are"
        " as large as a node of the largest group allows.",
    )
    requested_memory: Literal["ignore", "use"] = Field(
        "ignore",
        description="Read field 10, the requested memory per processor in KiB, as the request of"
        " `mem`; jobs without it get that of `unit`.",
    )
    missing_processors: Literal["allocated", "skip", "error"] = Field(
        "allocated",
        description="Policy for requested processors that are not given: those allocated,"
        " if given.",
    )
    dependencies: Literal["ignore", "honour"] = Field(
        "ignore",
        description="Let a job wait for the end of its preceding job (field 17), and then for the"
        " think time (field 18).",
    )


def review_swf(params: SwfParams, system: System) -> Iterator[Caution]:
    """Yield cautions if no node holds a unit, or if the header tells another machine."""
    comments = header_of(Path(params.path), TextEncoding(params.encoding))
    types = declared_types(comments)
    unit = None if params.unit is None else parted(params.unit, system)[0]
    if unit is None:
        known = {*system.resource_types, *(resource.name for resource in system.shared_resources)}
        lacking = set(types) - known
        if lacking:
            names = ", ".join(sorted(lacking))
            message = f"its units ask for {names}, which no node group has; the run will be refused"
            yield Caution("unknown-resource-type", message, "path")
    elif set(unit) <= set(system.resource_types) and not room_for(system, system.request(unit)):
        yield Caution("no-node-holds-unit", "no node can hold a unit that asks for this", "unit")
    of_processor = unit if unit is not None else {} if types else {"core": 1}
    yield from other_machine(header_machine(comments), system, of_processor)


def parted(amounts: Mapping[str, int], system: System) -> tuple[dict[str, int], dict[str, int]]:
    """Split the amounts of a unit into those of nodes and those of shared resources.

    Parameters
    ----------
    amounts
        Declared amounts by name.
    """
    shared_resources = {resource.name for resource in system.shared_resources}
    of_nodes = {name: amount for name, amount in amounts.items() if name not in shared_resources}
    return of_nodes, {name: amount for name, amount in amounts.items() if name in shared_resources}


def types_in_records(path: Path, encoding: TextEncoding | None = None) -> list[str]:
    """Return the resource types with amounts in a log's records; empty if the log is missing.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.
    """
    return declared_types(header_of(path, encoding))


def header_of(path: Path, encoding: TextEncoding | None = None) -> list[str]:
    """Return the header comments of a log; empty if it cannot be read.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.
    """
    lines = SwfLines(path, encoding)
    # The run will say what is wrong.
    with suppress(InputError):
        lines.read_header()
    return lines.comments


def declared_types(comments: Sequence[str]) -> list[str]:
    """Return the resource types that header comments announce; empty without any."""
    for comment in comments:
        # The first such comment counts, as the header of a log is read once.
        if comment.startswith(UNIT_RESOURCES):
            return comment.removeprefix(UNIT_RESOURCES).split()
    return []


FIELDS = 18
JOB_NAMES = "JobNames:"
NO_NAME = b"-1"

_USED = (0, 1, 3, 4, 7, 8, 11, 12, 13, 14, 15)
"""Job, submit, run time, processors allocated and requested, requested time, user to partition."""
_MEMORY = 9
_PRECEDING = (16, 17)
"""Fields of the preceding job's number and of the think time after it."""


_REQUESTS_KEPT = 4096
"""Size of the cache of requests."""

_DETAILS = slice(6, 11)
"""User to partition among the fields that are used."""


@builtin(
    "trace_source",
    "swf",
    SwfParams,
    summary="Standard Workload Format logs, plain or compressed",
    capabilities={RECORDS_WAITS},
    review=review_swf,
)
class SwfSource(LineSource):
    """Stream of the jobs of a log in the Standard Workload Format.

    Reasons for skipping a record, in the order in which they apply: `undecodable`, `malformed`,
    `fractional_seconds`, `unsorted`, `missing_run_time`, `zero_run_time`, `missing_processors`,
    `missing_requested_time`, `larger_than_system`.
    """

    @classmethod
    def build(cls, params: SwfParams, context: Context) -> Self:
        """Make the source for the scenario's system."""
        return cls(params, context.system)

    def __init__(self, params: SwfParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        lines = SwfLines(Path(params.path), encoding)
        super().__init__(params, system, lines, encoding)
        self._params = params
        lines.read_header()
        declared = declared_types(self.comments)
        self._named = [JOB_NAMES, "last"] in map(str.split, self.comments)
        self.number_count = FIELDS + len(declared)
        self.field_count = self.number_count + self._named
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
        further = range(FIELDS, self.number_count) if self._types else ()
        self.fields_read = (*self._fields_used, *further)
        self._whole_nodes = params.mapping == "whole_nodes"
        if not (self._types or self._whole_nodes or self._uses_memory):
            self.uniform_request = system.request(parted(self._unit, system)[0])
        self._known_request = lru_cache(_REQUESTS_KEPT)(self._request)

    def begin(self) -> None:
        """Forget the jobs of an earlier reading."""
        super().begin()
        self._before = NumbersSeen()

    def linked(self, columns: "JobColumns", records: IntArray) -> "JobColumns":
        """Return jobs without dependencies on jobs that do not come before them.

        Parameters
        ----------
        records
            Numbers of their records, from 1.
        """
        if not self.dependencies:
            return columns
        from hpcsched.arrow_arrays import arrow_array, numpy_array, python_array  # noqa: PLC0415

        details = columns.details
        preceding = details.column("after").to_pylist()
        unknown = np.zeros(len(preceding), dtype=np.bool_)
        for k, (number, after) in enumerate(zip(columns.job_id.tolist(), preceding, strict=True)):
            unknown[k] = after is not None and after[0] not in self._before
            self._before.add(number)
        if not unknown.any():
            return columns
        for record in records[unknown].tolist():
            self.note_change(record, UNKNOWN_PRECEDING)
        known = [None if lost else after for lost, after in zip(unknown, preceding, strict=True)]
        think_time = np.where(unknown, 0, numpy_array(details.column("think_time")))
        for name, column in (
            ("after", python_array(known, details.schema.field("after").type)),
            ("think_time", arrow_array(think_time)),
        ):
            details = details.set_column(details.schema.get_field_index(name), name, column)
        return columns._replace(details=details)

    def scan(self, lines: Lines) -> Block:
        """Return lines as columns."""
        numbers = lines.numbers
        self._read_odd_amounts(lines)
        job_id, submit_time, run_time, allocated, processors, requested_time = numbers[:6]
        # Neither -1 nor 0 is a number of processors.
        if self._params.missing_processors == "allocated":
            processors = np.where(processors > 0, processors, allocated)
        there = lines.verdicts == Verdict.JOB
        lines.verdicts[there & (processors <= 0)] = Verdict.MISSING_PROCESSORS
        more = list(numbers[len(_USED) :])
        memory = more.pop(0) if self._uses_memory else None
        preceding, think_time = None, np.zeros_like(job_id)
        if self.dependencies:
            preceding, think_time, *more = more
            think_time = np.where(preceding > 0, np.maximum(think_time, 0), 0)
        asked = [processors, *([] if memory is None else [memory]), *more]
        request, requests = self._requests(np.vstack(asked), lines.verdicts)
        named = {"name": lambda k: _name(lines[k].rsplit(None, 1)[-1])} if self._named else {}
        return lines.block(
            job_id,
            submit_time,
            run_time,
            requested_time,
            request,
            requests,
            numbers[_DETAILS],
            think_time,
            preceding=preceding,
            texts=named,
        )

    def _requests(
        self, asked: IntArray, verdicts: VerdictArray
    ) -> tuple[IntArray, list[ReadRequest]]:
        """Return the index of each line's request, and the requests."""
        rows = np.flatnonzero(verdicts == Verdict.JOB)
        given = asked[:, rows]
        first, place = distinct(given)
        request = np.full(len(verdicts), -1)
        request[rows] = place
        return request, [self._known_request(*numbers) for numbers in given[:, first].T.tolist()]

    def _read_odd_amounts(self, lines: Lines) -> None:
        """Read the declared amounts in odd lines, of which `odd_numbers` reads only the others."""
        for k, line in lines.odd.items() if self._types else ():
            if lines.verdicts[k] == Verdict.JOB:
                fields = line.split()[FIELDS : self.number_count]
                try:
                    amounts = [max(int(amount), 0) for amount in fields]
                except ValueError as error:
                    problem = UnusableError("malformed", f"expected whole numbers: {error}")
                else:
                    if max(amounts) <= LARGEST:
                        lines.numbers[len(self._fields_used) :, k] = amounts
                        continue
                    problem = UnusableError("malformed", f"expected numbers up to {LARGEST}")
                lines.refuse(k, problem, Verdict.REFUSED_REQUEST)

    def _has_separators(self, line: bytes) -> bool:
        """Return whether a number contains `_`, which int() accepts as a separator of digits.

        A name may contain it.
        """
        return b"_" in line and any(b"_" in field for field in line.split()[: self.number_count])

    def odd_numbers(self, line: bytes) -> list[int]:
        """Return the used numbers of a record."""
        fields = line.split()
        if len(fields) != self.field_count:
            raise UnusableError(
                "malformed", f"expected {self.field_count} fields, found {len(fields)}"
            )
        if self._has_separators(line):
            raise UnusableError("malformed", "expected whole numbers, found '_'")
        try:
            numbers = list(map(int, self._used(fields)))
        except ValueError:
            numbers = whole_numbers(fields, self._fields_used, self._durations, self.seconds)
        if max(numbers) > LARGEST:
            raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
        return numbers

    def _request(self, processors: int, *numbers: int) -> ReadRequest:
        """Return the request of a job by its processors, its memory and its declared amounts."""
        amounts = list(numbers)
        memory = amounts.pop(0) if self._uses_memory else 0
        asked = self._unit
        if self._types:
            asked = dict(zip(self._types, [max(amount, 0) for amount in amounts], strict=True))
        if memory > 0:
            asked = {**asked, "mem": memory * 1024}
        request = Request(processors, self.system.request(parted(asked, self.system)[0]))
        try:
            return ReadRequest(self._fitting(request, asked))
        except UnusableError as problem:
            return ReadRequest(request, problem)

    def _fitting(self, request: Request, asked: Mapping[str, int]) -> Request:
        """Return a request in units, which fit on the idle system."""
        units, size = request.units, 1
        if not any(request.unit_request):
            raise UnusableError("malformed", "a unit must ask for at least one resource type")
        if self._whole_nodes:
            per_node = processors_per_node(self.system, request.unit_request)
            if per_node:
                units, size = whole_nodes(units, per_node)
        declared, drawn = parted({name: one * size for name, one in asked.items()}, self.system)
        unit_request = self.system.request(declared)
        shared = tuple((name, amount * units) for name, amount in drawn.items() if amount)
        found = Request(units, unit_request, shared_requests=shared)
        self.check_room(found, declared)
        return found

    def _check_amounts(self, amounts: Mapping[str, int]) -> None:
        """Raise InputError for unknown types, and for shared resources with their own model."""
        shared_resources = check_draws(self.system, amounts, self.lines.path, "trace.unit")
        own = [name for name in amounts if name not in shared_resources]
        check_types(self.system, own, self.lines.path, "trace.unit")


def _name(field: bytes) -> str | None:
    return None if field == NO_NAME else field.decode("utf-8", "replace")
