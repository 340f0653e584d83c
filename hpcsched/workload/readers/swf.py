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

import re
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from hpcsched._core import NumbersSeen, Verdict, scan_lines
from hpcsched.errors import InputError
from hpcsched.parameters import LARGEST, UnitAmounts
from hpcsched.registration import RECORDS_WAITS, Caution, builtin
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.readers.log_source import (
    NO_REQUEST,
    Block,
    LogSource,
    ReadRequest,
    VerdictArray,
    check_draws,
    check_types,
)
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError, WithdrawnPolicy
from hpcsched.workload.readers.quantities import WholeSeconds, processors_per_node, whole_nodes
from hpcsched.workload.readers.text_files import (
    LONGEST,
    check_length,
    decoded,
    open_text,
    reading,
)
from hpcsched.workload.trace_source import UNKNOWN_PRECEDING

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns


_SUBMIT_TIME = 1
_DURATIONS = (2, 3, 8, 17)
"""Fields of the wait time, the run time, the requested time and the think time, from 0."""

_WAITS = WholeSeconds("outward")

BLOCK = 2**19
"""Bytes of lines that are read together, at least."""


class SwfLines:
    """Lines of a file, read from the first to the last without holding it in memory.

    Attributes
    ----------
    comments
        Header comments: `;` lines before the first record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.comments: list[str] = []
        self._raw: IO[bytes] | None = None
        self._size = 0

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        if self._raw is None or not self._size:
            return 0.0
        return 1.0 if self._raw.closed else self._raw.tell() / self._size

    def read_header(self) -> None:
        """Read as far as the first record; raises InputError if the file cannot be read."""
        with closing(self.blocks()) as blocks:
            next(blocks, None)

    def blocks(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield whole lines, block by block, each with the number of its first line."""
        number = 1
        self.comments = []
        with reading(self.path, lambda: number - 1), open_text(self.path) as (self._raw, stream):
            self._size = self.path.stat().st_size
            text = self._header(stream) + stream.read(BLOCK)
            while text:
                if not text.endswith(b"\n"):
                    text += stream.readline(LONGEST)
                    check_length(text[text.rfind(b"\n", 0, -1) + 1 :], self.path, number)
                yield number, text
                number += text.count(b"\n")
                text = stream.read(BLOCK)

    def _header(self, stream: Any) -> bytes:
        """Read the lines up to the first record."""
        lines: list[bytes] = []
        while line := stream.readline(LONGEST):
            check_length(line, self.path, len(lines) + 1)
            lines.append(line)
            if line[:1] == b";":
                self.comments.append(decoded(line[1:]).strip())
            elif line.strip():
                break
        return b"".join(lines)


def header_of(path: Path) -> list[str]:
    """Return the header comments of a log; empty if it cannot be read."""
    lines = SwfLines(path)
    # The run will say what is wrong.
    with suppress(InputError):
        lines.read_header()
    return lines.comments


def wait_time(line: bytes) -> int:
    """Return the wait time of a record (field 3) in seconds, rounded up; -1 if missing.

    A field that is no number counts as missing: the same records give jobs, whether or not their
    waits are read.
    """
    try:
        return _WAITS.duration(line.split(None, 3)[2].decode("ascii", "replace"))
    except ValueError:
        return -1


OTHER_MACHINE = "other-machine"
"""Rule of a caution about a header that states another machine than the system."""


class HeaderMachine(NamedTuple):
    """Machine of a log's header; 0 where the header is silent."""

    nodes: int
    processors: int


def header_machine(comments: Sequence[str]) -> HeaderMachine:
    """Return the machine that header comments state."""
    text = "\n".join(comments)
    found = (re.search(rf"{key}:\s*(\d+)", text) for key in ("MaxNodes", "MaxProcs"))
    return HeaderMachine(*(int(match[1]) if match else 0 for match in found))


def other_machine(policies: RecordPolicies, system: System, cores: int = 1) -> Iterator[Caution]:
    """Yield a caution if the header of a log states another machine than the system.

    Numbers of nodes are not compared where the system has a node for each processor.

    Parameters
    ----------
    cores
        Cores of a processor; 0 if unknown.
    """
    stated = header_machine(header_of(Path(policies.path)))
    processors = system.declared(system.totals).get("core", 0) // cores if cores else 0
    # A node for each processor is a machine whose nodes nobody knows: only processors compare.
    only_processors = system.node_count == processors == stated.processors
    differs = [
        f"{called}: {number}, and the system has {there} {what}"
        for called, number, there, what in (
            ("MaxNodes", 0 if only_processors else stated.nodes, system.node_count, "nodes"),
            ("MaxProcs", stated.processors, processors, "processors"),
        )
        if number and processors and number != there
    ]
    if differs:
        message = f"the log's header says {'; '.join(differs)}; is it the system of this log?"
        yield Caution(OTHER_MACHINE, message, "path")


@dataclass(slots=True)
class Lines:
    """Lines of a log that are neither blank nor comments, `[L]`, and the numbers in their fields.

    Attributes
    ----------
    numbers
        Numbers in the fields that are read, `[F, L]`; -1 where none is given.
    faults
        Why lines are no records.
    changes
        Clippings of odd lines, by name.
    """

    path: Path
    text: bytes
    begins: IntArray
    ends: IntArray
    line: IntArray
    numbers: IntArray
    verdicts: VerdictArray
    faults: dict[int, UnusableError] = field(default_factory=dict)
    changes: dict[int, list[str]] = field(default_factory=dict)

    def __getitem__(self, k: int) -> bytes:
        """Return line `k`."""
        return self.text[self.begins[k] : self.ends[k]]

    def block(self, *columns: Any, **more: Any) -> Block:
        """Return the records with the columns of a `Block` from `job_id` on."""
        found = Block(lambda _: self.path, self.line, self.verdicts, *columns, **more)
        found.faults, found.changes = self.faults, self.changes
        found.wait = lambda k: wait_time(self[k])
        return found

    def refuse(self, k: int, problem: UnusableError) -> None:
        """Note that line `k` is no record."""
        self.faults[k], self.verdicts[k] = problem, Verdict.NO_RECORD
        self.numbers[:, k] = -1


class LineSource(LogSource):
    """Log source that reads many lines at once.

    The core reads the numbers of whole blocks of lines. Only a line with something else than digits
    is read by itself.
    """

    field_count: int
    """Number of fields of a line."""

    fields_read: Sequence[int]
    """Fields that are read as numbers, from 0, `[F]`."""

    def __init__(self, policies: RecordPolicies, system: System) -> None:
        self._swf_lines = SwfLines(Path(policies.path))
        super().__init__(policies, system, self._swf_lines)
        self._swf_lines.read_header()  # so that a file that cannot be read is known at once

    @abstractmethod
    def scan(self, lines: Lines) -> Block:
        """Return lines as columns, with verdict `MISSING_PROCESSORS` for those without any."""

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; those before an error come before it."""
        used = np.array(self.fields_read, dtype=np.int64)
        with closing(self._swf_lines.blocks()) as blocks:
            for first, text in blocks:
                found, plain, begins, ends, line = scan_lines(
                    text, self.field_count, 0, used, LARGEST
                )
                verdicts = np.full(len(line), Verdict.JOB, dtype=np.int8)
                lines = Lines(self.lines.path, text, begins, ends, first + line, found, verdicts)
                for k in np.flatnonzero(plain == 0).tolist():
                    self.seconds.rounded = False
                    try:
                        found[:, k] = np.maximum(self._odd_numbers(lines[k]), -1)
                    except UnusableError as problem:
                        lines.refuse(k, problem)
                    lines.changes[k] = ["fractional_seconds"] * self.seconds.rounded
                yield self.scan(lines)

    def _odd_numbers(self, line: bytes) -> list[int]:
        """Return the numbers of a line that has others than digits."""
        fields = line.split()
        if len(fields) != self.field_count:
            message = f"expected {self.field_count} fields, found {len(fields)}"
            raise UnusableError("malformed", message)
        found = []
        field = b""
        try:
            for n in self.fields_read:
                field = fields[n]
                text = field.decode("ascii", "replace")
                if n == _SUBMIT_TIME:
                    found.append(self.seconds.instant(text))
                elif n in _DURATIONS:
                    found.append(self.seconds.duration(text))
                elif b"_" in field:  # int() takes it for a separator of digits
                    raise ValueError
                else:
                    found.append(int(field))
        except ValueError:
            shown = decoded(field[:40])
            raise UnusableError("malformed", f"expected whole numbers, found {shown!r}") from None
        if max(found) > LARGEST:
            raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
        return found


UNIT_RESOURCES = "UnitResources:"


class SwfParams(WithdrawnPolicy):
    """Parameters of `swf`: the log, and policies for records that cannot be used as they are."""

    unit: UnitAmounts | None = None
    """Request of each processor, by resource type; by default the header's UnitResources, else one
    core."""
    mapping: Literal["one_each", "whole_nodes"] = "one_each"
    """Meaning of a requested processor: a job unit each, or a part of units that are as large as a
    node of the largest group allows."""
    requested_memory: Literal["ignore", "use"] = "ignore"
    """Read field 10, the requested memory per processor in KiB, as the request of `mem`; jobs
    without it get that of `unit`."""
    missing_processors: Literal["allocated", "skip", "error"] = "allocated"
    """Policy for requested processors that are not given: those allocated, if given."""
    dependencies: Literal["ignore", "honour"] = "ignore"
    """Let a job wait for the end of its preceding job (field 17), and then for the think time
    (field 18)."""


def review_swf(params: SwfParams, system: System) -> Iterator[Caution]:
    """Yield a caution if the header tells another machine than the system."""
    yield from other_machine(params, system, (params.unit or {"core": 1}).get("core", 0))


def parted(amounts: Mapping[str, int], system: System) -> tuple[dict[str, int], dict[str, int]]:
    """Split the declared amounts of a unit into those of nodes and those of shared resources."""
    shared_resources = {resource.name for resource in system.shared_resources}
    of_nodes = {name: amount for name, amount in amounts.items() if name not in shared_resources}
    return of_nodes, {name: amount for name, amount in amounts.items() if name in shared_resources}


def types_in_records(path: Path) -> list[str]:
    """Return the resource types with amounts in a log's records; empty if the log is missing."""
    return declared_types(header_of(path))


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
_WAITED = (2, 10)
"""Fields of the wait time and of the status."""
_CANCELLED = 5
_PRECEDING = (16, 17)
"""Fields of the preceding job's number and of the think time after it."""


_REQUESTS_KEPT = 4096
"""Size of the cache of requests."""

_DETAILS = slice(6, 11)
"""User to partition among the fields that are used."""


@builtin("trace_source", "swf", SwfParams, capabilities={RECORDS_WAITS}, review=review_swf)
class SwfSource(LineSource):
    """Trace source: Standard Workload Format logs, plain or compressed.

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
            *_WAITED * (params.withdrawn != "skip"),
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
        patience = None
        if self._params.withdrawn != "skip":
            wait, status, more = more[0], more[1], more[2:]
            # A job that was cancelled as it ran has a run time, or processors.
            ran = (run_time > 0) | ((run_time == 0) & (allocated > 0))
            withdrawn = (status == _CANCELLED) & ~ran & (wait >= 0)
            patience = np.where(withdrawn, wait, -1)
            run_time = np.where(withdrawn, requested_time, run_time)
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
            patience=patience,
        )

    def _name(self, line: bytes) -> str | None:
        field = line.rsplit(None, 1)[-1]
        return None if field == NO_NAME else decoded(field)

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
