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
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from hpcsched._core import NumbersSeen, Verdict
from hpcsched.parameters import UnitAmounts
from hpcsched.registration import RECORDS_WAITS, Caution, builtin
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.readers.equal_units import processors_per_node, whole_nodes
from hpcsched.workload.readers.log_source import (
    NO_REQUEST,
    Block,
    ReadRequest,
    check_draws,
    check_types,
)
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.swf_lines import Lines, LineSource, header_of, other_machine
from hpcsched.workload.readers.text_files import decoded
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
    """Yield a caution if the header tells another machine than the system."""
    yield from other_machine(params, system, (params.unit or {"core": 1}).get("core", 0))


def parted(amounts: Mapping[str, int], system: System) -> tuple[dict[str, int], dict[str, int]]:
    """Split the declared amounts of a unit into those of nodes and those of shared resources."""
    shared_resources = {resource.name for resource in system.shared_resources}
    of_nodes = {name: amount for name, amount in amounts.items() if name not in shared_resources}
    return of_nodes, {name: amount for name, amount in amounts.items() if name in shared_resources}


def types_in_records(path: Path, encoding: str) -> list[str]:
    """Return the resource types with amounts in a log's records; empty if the log is missing."""
    return declared_types(header_of(path, encoding))


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

    Reasons for skipping a record, in the order in which they apply: `malformed`,
    `fractional_seconds`, `unsorted`, `missing_run_time`, `zero_run_time`, `missing_processors`,
    `missing_requested_time`, `larger_than_system`.
    """

    def __init__(self, params: SwfParams, system: System) -> None:
        super().__init__(params, system)
        self._params = params
        declared = declared_types(self.comments)
        self._named = [JOB_NAMES, "last"] in map(str.split, self.comments)
        self.field_count = FIELDS + len(declared) + self._named
        self._types = [] if params.unit else declared
        self._unit = dict.fromkeys(self._types, 0) if self._types else params.unit or {"core": 1}
        self._uses_memory = params.requested_memory == "use"
        names = [*self._unit, *(["mem"] if self._uses_memory else [])]
        shared = check_draws(system, names, self.lines.path, "trace.unit")
        check_types(
            system, [name for name in names if name not in shared], self.lines.path, "trace.unit"
        )
        self.dependencies = params.dependencies == "honour"
        self.fields_read = (
            *_USED,
            *_PRECEDING * self.dependencies,
            *(_MEMORY,) * self._uses_memory,
            *(range(FIELDS, FIELDS + len(declared)) if self._types else ()),
        )
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
        job_id, submit_time, run_time, allocated, processors, requested_time = lines.numbers[:6]
        # Neither -1 nor 0 is a number of processors.
        if self._params.missing_processors == "allocated":
            processors = np.where(processors > 0, processors, allocated)
        there = lines.verdicts == Verdict.JOB
        lines.verdicts[there & (processors <= 0)] = Verdict.MISSING_PROCESSORS
        preceding, think_time, more = None, np.zeros_like(job_id), lines.numbers[len(_USED) :]
        if self.dependencies:
            preceding, think_time, more = more[0], more[1], more[2:]
            think_time = np.where(preceding > 0, np.maximum(think_time, 0), 0)
        rows = np.flatnonzero(lines.verdicts == Verdict.JOB)
        given = np.vstack([processors, more])[:, rows]
        request = np.full(len(job_id), -1)
        _, first, place = np.unique(given, axis=1, return_index=True, return_inverse=True)
        request[rows] = place.ravel()
        requests = [self._known_request(*numbers) for numbers in given[:, first].T.tolist()]
        named = {"name": lambda k: self._name(lines[k])} if self._named else {}
        return lines.block(
            job_id,
            submit_time,
            run_time,
            requested_time,
            request,
            requests,
            lines.numbers[_DETAILS],
            think_time,
            preceding=preceding,
            texts=named,
        )

    def _name(self, line: bytes) -> str | None:
        field = line.rsplit(None, 1)[-1]
        return None if field == NO_NAME else decoded(field, self._encoding)

    def _request(self, processors: int, *numbers: int) -> ReadRequest:
        """Return the request of a job by its processors, its memory and its declared amounts."""
        amounts = list(numbers)
        memory = amounts.pop(0) if self._uses_memory else 0
        asked = self._unit
        if self._types:
            asked = dict(zip(self._types, [max(amount, 0) for amount in amounts], strict=True))
        if memory > 0:
            asked = {**asked, "mem": memory * 1024}
        try:
            return ReadRequest(self._fitting(processors, asked))
        except UnusableError as problem:
            return ReadRequest(NO_REQUEST, problem)

    def _fitting(self, units: int, asked: Mapping[str, int]) -> Request:
        """Return a request in units, which fit on the idle system."""
        size = 1
        of_processor = self.system.request(parted(asked, self.system)[0])
        if not any(of_processor):
            raise UnusableError("malformed", "a unit must ask for at least one resource type")
        per_node = processors_per_node(self.system, of_processor) if self._whole_nodes else 0
        if per_node:
            units, size = whole_nodes(units, per_node)
        declared, drawn = parted({name: one * size for name, one in asked.items()}, self.system)
        shared = tuple((name, amount * units) for name, amount in drawn.items() if amount)
        found = Request(units, self.system.request(declared), shared_requests=shared)
        self.check_room(found, declared)
        return found
