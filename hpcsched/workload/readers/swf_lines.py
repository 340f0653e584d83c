"""Lines of a Standard Workload Format file, in constant memory, and the machine of its header."""

import io
import re
from abc import abstractmethod
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from hpcsched._core import Verdict, scan_lines
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.paths import MIB, open_file
from hpcsched.registration import Caution
from hpcsched.system.space import room_for
from hpcsched.system.system import IntArray, System
from hpcsched.workload.readers.log_source import Block, LogSource, VerdictArray
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.text_files import DAMAGE, LONGEST, PIECE, TextEncoding

SUBMIT_TIME = 1
DURATIONS = (3, 8)
"""Fields of the run time and of the requested time, from 0."""

_MOST_COMMENTS = 4 * MIB
"""Maximum size of the header comments of a log in bytes."""

_WAITS = WholeSeconds("outward")
_FIELDS = 18
_MOST_ODD = 100
"""Maximum number of odd lines in a header."""

BLOCK = 2**19
"""Bytes of lines that are read together, at least."""


class _LongLineError(Exception):
    """Line without an end in the first `LONGEST` bytes."""


class SwfLines:
    """Lines of a file, read from the first to the last without holding it in memory.

    Parameters
    ----------
    encoding
        Encoding of the file; UTF-8 if not given.

    Attributes
    ----------
    comments
        Header comments: `;` lines before the first record. Up to 100 lines with too few fields
        for a record do not end the header.
    """

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self._encoding = encoding or TextEncoding()
        self.comments: list[str] = []
        self._raw: IO[bytes] | None = None
        self._size = 0
        self._in_header = True
        self._commented = self._odd = 0

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        if self._raw is None or not self._size:
            return 0.0
        return 1.0 if self._raw.closed else self._raw.tell() / self._size

    def read_header(self) -> None:
        """Read as far as the first record; raises InputError if the file cannot be read."""
        with closing(self.blocks()) as blocks:
            while self._in_header and next(blocks, None) is not None:
                pass

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and text of every line that is neither blank nor a comment.

        Lines come without their end.
        """
        for first, text in self.blocks():
            for number, line in enumerate(text.split(b"\n"), first):
                if line[:1] != b";" and line.strip():
                    yield number, line

    def blocks(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield whole lines, block by block, each with the number of its first line."""
        number = 1
        self._in_header, self._commented, self._odd = True, 0, 0
        self.comments = []
        try:
            with open_file(self.path) as raw:
                self._raw, self._size = raw, self.path.stat().st_size
                for block in self._blocks(self._encoding.stream(raw)):
                    text = self._encoding.without_mark(block, self.path) if number == 1 else block
                    if self._in_header:
                        self._read_comments(number, text)
                    yield number, text
                    number += text.count(b"\n")
        except _LongLineError:
            message = f"expected lines of text, found a line of {LONGEST} bytes or more"
            raise self._no_text(number, message) from None
        except DAMAGE as error:
            raise InputError(
                Finding(
                    "damaged-trace",
                    f"expected a whole compressed file, found damage after this line: {error}",
                    Place(str(self.path), number - 1),
                )
            ) from None
        except OSError as error:
            raise InputError(
                Finding(
                    "unreadable-trace",
                    f"the trace cannot be read: {error.strerror or error}",
                    Place(str(self.path)),
                )
            ) from None

    def _blocks(self, stream: io.BufferedIOBase) -> Iterator[bytes]:
        """Yield whole lines of a stream; those before an error come before it."""
        fault: Exception | None = None
        ended = False
        held, size, begun = [], 0, 0  # pieces, their bytes, and those of the last line
        while not ended:
            try:
                piece = stream.read1(PIECE)
            except (OSError, InputError, *DAMAGE) as error:
                piece, fault = b"", error
            ended = not piece
            held.append(piece)
            size += len(piece)
            after = len(piece) - piece.rfind(b"\n") - 1
            begun = after if after < len(piece) else begun + after
            # Counted piece by piece: a file without line ends must not fill the memory.
            if begun >= LONGEST:
                fault, ended = _LongLineError(), True
            # A header is read without the records behind it.
            if size - begun >= (1 if self._in_header else BLOCK) or (ended and size):
                text = b"".join(held)
                # A line that an error cuts off is none.
                whole = size if ended and fault is None else size - begun
                held, size = [text[whole:]], size - whole
                if whole:
                    yield text[:whole]
        if fault is not None:
            raise fault

    def _read_comments(self, first: int, text: bytes) -> None:
        """Take the comments before the first record from the next lines of the file."""
        for number, line in enumerate(text.split(b"\n"), first):
            if line[:1] == b";":
                self._commented += len(line)
                if self._commented > _MOST_COMMENTS:
                    most = f"at most {_MOST_COMMENTS // MIB} MiB of header comments"
                    raise self._no_text(number, f"expected {most}, found more")
                self.comments.append(self._encoding.comment(line[1:]))
            elif line.strip():
                self._odd += 1
                is_odd = len(line.split(None, _FIELDS - 1)) < _FIELDS
                self._in_header = is_odd and self._odd < _MOST_ODD
                # Comments behind the first record are remarks on records, not the header.
                if not self._in_header:
                    break

    def _no_text(self, number: int, message: str) -> InputError:
        return InputError(Finding("no-text", message, Place(str(self.path), number)))


def whole_numbers(
    fields: Sequence[bytes], used: Iterable[int], durations: Container[int], seconds: WholeSeconds
) -> list[int]:
    """Return the numbers in some fields of a record; times may have fractions.

    Parameters
    ----------
    used
        The fields to read, from 0.
    """
    found = []
    field = b""
    try:
        for n in used:
            field = fields[n]
            if n == SUBMIT_TIME:
                found.append(seconds.instant(field.decode("ascii", "replace")))
            elif n in durations:
                found.append(seconds.duration(field.decode("ascii", "replace")))
            else:
                found.append(int(field))
    except ValueError:
        shown = field[:40].decode("utf-8", "replace")
        raise UnusableError("malformed", f"expected whole numbers, found {shown!r}") from None
    return found


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

_NODES = re.compile(r"MaxNodes:\s*(\d+)")
_PROCESSORS = re.compile(r"MaxProcs:\s*(\d+)")


class HeaderMachine(NamedTuple):
    """Machine of a log's header; 0 where the header is silent."""

    nodes: int
    processors: int

    @property
    def told(self) -> str:
        """The header's words."""
        parts = [f"MaxNodes: {self.nodes}"] * bool(self.nodes)
        return ", ".join([*parts, *[f"MaxProcs: {self.processors}"] * bool(self.processors)])


def header_machine(comments: Sequence[str]) -> HeaderMachine:
    """Return the machine that header comments state.

    Examples
    --------
    >>> header_machine(["MaxNodes: 16", "MaxProcs: 128"])
    HeaderMachine(nodes=16, processors=128)
    """
    text = "\n".join(comments)
    found = (pattern.search(text) for pattern in (_NODES, _PROCESSORS))
    return HeaderMachine(*(int(match[1]) if match else 0 for match in found))


def other_machine(
    stated: HeaderMachine, system: System, unit: Mapping[str, int]
) -> Iterator[Caution]:
    """Yield a caution if a header states another machine than the system.

    Numbers of nodes are not compared where the system has a node for each processor.

    Parameters
    ----------
    unit
        Declared request of a processor on nodes; empty if it differs from job to job.
    """
    processors = _processors(system, unit)
    # A node for each processor is a machine whose nodes nobody knows: only processors compare.
    only_processors = system.node_count == processors == stated.processors
    differs = [
        f"{called}: {number}, and the system has {there}"
        for called, number, there in (
            ("MaxNodes", 0 if only_processors else stated.nodes, f"{system.node_count} nodes"),
            ("MaxProcs", stated.processors, f"{processors} processors"),
        )
        if number and processors and number != int(there.split()[0])
    ]
    if differs:
        message = f"the log's header says {'; '.join(differs)}; is it the system of this log?"
        yield Caution(OTHER_MACHINE, message, "path")


def _processors(system: System, unit: Mapping[str, int]) -> int:
    """Return the number of processors of a system; 0 if a processor is nothing that it has."""
    totals = system.declared(system.totals)
    if unit.get("core"):
        return totals.get("core", 0) // unit["core"]
    if unit:
        known = set(unit) <= set(system.resource_types)
        return room_for(system, system.request(dict(unit))) if known else 0
    return totals.get("core", 0)


@dataclass(slots=True)
class Lines:
    """Lines of a log that are neither blank nor comments, `[L]`, and the numbers in their fields.

    Attributes
    ----------
    numbers
        Numbers in the fields that are read, `[F, L]`; -1 where none is given.
    odd
        Lines that were read by themselves, in UTF-8.
    faults
        Why lines are no records, or have requests that cannot be read.
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
    odd: dict[int, bytes] = field(default_factory=dict)
    faults: dict[int, UnusableError] = field(default_factory=dict)
    changes: dict[int, list[str]] = field(default_factory=dict)

    def __getitem__(self, k: int) -> bytes:
        """Return line `k`, in UTF-8."""
        line = self.odd.get(k)
        return self.text[self.begins[k] : self.ends[k]] if line is None else line

    def block(self, *columns: Any, **more: Any) -> Block:
        """Return the records with the columns of a `Block` from `job_id` on."""
        found = Block(lambda _: self.path, self.line, self.verdicts, *columns, **more)
        found.faults, found.changes = self.faults, self.changes
        found.wait = lambda k: wait_time(self[k])
        return found

    def refuse(self, k: int, problem: UnusableError, verdict: Verdict) -> None:
        """Note that line `k` gives no job."""
        self.faults[k], self.verdicts[k] = problem, verdict
        if verdict == Verdict.NO_RECORD:
            self.numbers[:, k] = -1


class LineSource(LogSource):
    """Log source that reads many lines at once.

    The core reads the numbers of whole blocks of lines. Only a line with something else than digits
    is read by itself.
    """

    field_count: int
    """Number of fields of a line."""

    number_count: int
    """Number of its first fields in which a `_` is an error."""

    fields_read: Sequence[int]
    """Fields that are read as numbers, from 0, `[F]`."""

    def __init__(
        self, policies: RecordPolicies, system: System, lines: SwfLines, encoding: TextEncoding
    ) -> None:
        super().__init__(policies, system, lines, encoding)
        self._swf_lines = lines

    @abstractmethod
    def odd_numbers(self, line: bytes) -> Sequence[int]:
        """Return the numbers of a line that has others than digits, or the first of them."""

    @abstractmethod
    def scan(self, lines: Lines) -> Block:
        """Return lines as columns, with verdict `MISSING_PROCESSORS` for those without any."""

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; those before an error come before it."""
        used = np.array(self.fields_read, dtype=np.int64)
        with closing(self._swf_lines.blocks()) as blocks:
            for first, text in blocks:
                found, plain, begins, ends, line = scan_lines(
                    text, self.field_count, self.number_count, used, LARGEST
                )
                verdicts = np.full(len(line), Verdict.JOB, dtype=np.int8)
                lines = Lines(self.lines.path, text, begins, ends, first + line, found, verdicts)
                self._read_odd(lines, np.flatnonzero(plain == 0).tolist())
                yield self.scan(lines)

    def _read_odd(self, lines: Lines, odd: Sequence[int]) -> None:
        """Read lines by themselves that have other fields than plain numbers."""
        for k in odd:
            self.encoding.replaced = self.seconds.rounded = False
            try:
                lines.odd[k] = line = self.encoding.utf8(lines[k])
                numbers = self.odd_numbers(line)
                lines.numbers[: len(numbers), k] = np.maximum(numbers, -1)
            except UnusableError as problem:
                lines.refuse(k, problem, Verdict.NO_RECORD)
            lines.changes[k] = [
                *["undecodable"] * self.encoding.replaced,
                *["fractional_seconds"] * self.seconds.rounded,
            ]


def distinct(columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct columns of an array of numbers.

    Parameters
    ----------
    columns
        Numbers, `[A, L]`; with A = 0 all columns are equal.

    Returns
    -------
    tuple
        Index of the first occurrence of each distinct column, `[D]`, and the distinct column of
        each column, `[L]`.
    """
    which = np.zeros(columns.shape[1], dtype=np.int64)
    for numbers in columns:
        _, place = np.unique(numbers, return_inverse=True)
        which = np.unique(which * (len(numbers) + 1) + place, return_inverse=True)[1]
    _, first, place = np.unique(which, return_index=True, return_inverse=True)
    return first, place
