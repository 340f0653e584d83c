"""Lines of a Standard Workload Format file, in constant memory, and the machine of its header."""

import re
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from hpcsched._core import Verdict, scan_lines
from hpcsched.errors import InputError
from hpcsched.parameters import LARGEST
from hpcsched.registration import Caution
from hpcsched.system.system import IntArray, System
from hpcsched.workload.readers.log_source import Block, LogSource, VerdictArray
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.text_files import (
    LONGEST,
    check_length,
    decoded,
    open_text,
    reading,
)

_SUBMIT_TIME = 1
_DURATIONS = (3, 8, 17)
"""Fields of the run time, the requested time and the think time, from 0."""

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

    def __init__(self, path: Path, encoding: str = "utf-8") -> None:
        self.path = path
        self._encoding = encoding
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
                self.comments.append(decoded(line[1:], self._encoding).strip())
            elif line.strip():
                break
        return b"".join(lines)


def header_of(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the header comments of a log; empty if it cannot be read."""
    lines = SwfLines(path, encoding)
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
    """Return the machine that header comments state.

    Examples
    --------
    >>> header_machine(["MaxNodes: 16", "MaxProcs: 128"])
    HeaderMachine(nodes=16, processors=128)
    """
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
    stated = header_machine(header_of(Path(policies.path), policies.encoding))
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
        self._swf_lines = SwfLines(Path(policies.path), policies.encoding)
        self._encoding = policies.encoding
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
            shown = decoded(field[:40], self._encoding)
            raise UnusableError("malformed", f"expected whole numbers, found {shown!r}") from None
        if max(found) > LARGEST:
            raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
        return found
