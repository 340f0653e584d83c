"""Rows of tables: CSV files, folders of tables, and the job logs of Eurora and Philly.

CSV files are read line by line with the standard library, so that each message can name its line: a
value cannot continue on the next line.
"""

import csv
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.text_files import (
    DAMAGE,
    ENDINGS,
    TextEncoding,
    TextLines,
    unpacked,
    whole_text,
)

if TYPE_CHECKING:
    from hpcsched.workload.readers.table_params import TableParams


PARQUET_MAGIC = b"PAR1"


class Rows(Protocol):
    """Rows of a table; only the selected columns are read."""

    names: Sequence[str]

    @property
    def path(self) -> Path:
        """File of the table."""

    @property
    def files(self) -> Sequence[Path]:
        """All files of the table."""

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace, if the table has any."""

    @property
    def fraction_read(self) -> float:
        """Fraction of the table that has been read, from 0 to 1."""

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and content of each row.

        The number is that of the line or, in a file without lines, the position from 1.

        Raises
        ------
        InputError
            If the table cannot be read or is damaged.
        """

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a row.

        Raises
        ------
        UnusableError
            If the record is no row.
        """


def open_rows(
    path: Path,
    delimiter: str,
    encoding: TextEncoding | None = None,
    names: Sequence[str] | None = None,
) -> Rows:
    """Return the rows of a table; its first bytes decide the format.

    Parameters
    ----------
    encoding
        Encoding of a CSV file; UTF-8 if not given.
    names
        Names of the columns of a CSV file without a header; None: its first line has them.
    """
    try:
        with open_file(path) as file:
            start = file.read(4)
    except OSError as error:
        message = f"the trace cannot be read: {error.strerror or error}"
        raise InputError(Finding("unreadable-trace", message, Place(str(path)))) from None
    if start == PARQUET_MAGIC:
        # It imports pyarrow, which takes its time.
        from hpcsched.workload.readers.parquet_rows import ParquetRows  # noqa: PLC0415

        return ParquetRows(path)
    return CsvRows(path, delimiter, encoding, names)


class CsvRows:
    """Rows of a CSV file with the names of the columns in its first line.

    Parameters
    ----------
    encoding
        Encoding of the file; UTF-8 if not given.
    names
        Names of the columns of a file without a header; None: its first line has them.
    """

    comments: Sequence[str] = ()

    def __init__(
        self,
        path: Path,
        delimiter: str,
        encoding: TextEncoding | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._lines = TextLines(path, encoding)
        self._delimiter = delimiter
        self._wanted: list[int] = []
        self._headers = 1 if names is None else 0
        if names is not None:
            self.names: Sequence[str] = names
            return
        number, line = next(self._lines.records(), (0, b""))
        if not number:
            raise self._malformed(1, "expected a line that names the columns, found nothing")
        try:
            names = self._split(self._lines.encoding.header(line, Place(str(path), number)))
        except UnusableError as error:
            raise self._malformed(number, str(error)) from None
        self.names = [name.strip() for name in names]
        double = next((n for k, n in enumerate(self.names) if n in self.names[:k]), None)
        if double is not None:
            raise self._malformed(number, f"two columns are called {double[:40]!r}")

    @property
    def path(self) -> Path:
        """File of the table."""
        return self._lines.path

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the table that has been read, from 0 to 1."""
        return self._lines.fraction_read

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = [self.names.index(name) for name in names]

    def records(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield the number and the bytes of each line after that with the names."""
        with closing(self._lines.records()) as lines:
            yield from islice(lines, self._headers, None)

    def values(self, record: bytes) -> Sequence[str]:
        """Return the selected values of a line."""
        fields = self._split(record)
        if len(fields) != len(self.names):
            raise UnusableError(
                "malformed", f"expected {len(self.names)} values, found {len(fields)}"
            )
        return [fields[k] for k in self._wanted]

    def _split(self, line: bytes) -> list[str]:
        text = line.decode().rstrip("\r\n")
        if "\0" in text:
            raise UnusableError("malformed", "expected text, found a zero byte")
        try:
            return next(csv.reader([text], delimiter=self._delimiter, strict=True), [])
        except csv.Error as error:
            raise UnusableError("malformed", f"expected values of CSV: {error}") from None

    def _malformed(self, line: int, message: str) -> InputError:
        return InputError(Finding("malformed", message, Place(str(self.path), line)))


USED = "used (node:cores:gpus:mics:mem per node)"
LIMIT = "requested_time"
UNIT_COLUMNS = ("core", "gpu", "mic", "mem_kib")
MINUTES, NODES, APART = "requested_minutes", "used_nodes", "on_nodes_of_its_own"


class EuroraRows:
    """Rows of the log of Eurora, CSV with the nodes of each job; nodes are numbered from 0.

    Further columns come from that of the nodes: what a unit has, and where the job ran. The
    requested memory of the log is not used: of 5,930 records, it is in MB in 701, 1 whatever the
    job was given in 577, and in GiB in the others. The amounts of the nodes used are in KiB
    throughout.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.
    """

    comments: Sequence[str] = ()

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self._table = CsvRows(path, ";", encoding)
        there = self._table.names
        if not {USED, LIMIT} <= set(there):
            message = f"expected the log of Eurora, with the columns {LIMIT} and {USED}; there are:"
            where = Place(str(path), 1)
            raise InputError(Finding("malformed", f"{message} {', '.join(there)[:200]}", where))
        self.names: Sequence[str] = [*there, *UNIT_COLUMNS, MINUTES, NODES, APART]
        self._table.select(there)
        self._wanted: Sequence[str] = ()

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        return self._table.fraction_read

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and the bytes of each line after that with the names."""
        return self._table.records()

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a line."""
        row = dict(zip(self._table.names, self._table.values(record), strict=True))
        nodes, unit = _parts(row[USED])
        derived = {
            **row,
            **dict(zip(UNIT_COLUMNS, unit, strict=True)),
            MINUTES: _minutes(row[LIMIT]),
            NODES: sorted(set(nodes)),
            APART: len(set(nodes)) == len(nodes),
        }
        return [derived[name] for name in self._wanted]


def _parts(used: str) -> tuple[list[int], tuple[int, ...]]:
    """Return the node of each part of a job, and the amounts that all parts have."""
    try:
        parts = [tuple(int(number) for number in part.split(":")) for part in used.split()]
    except ValueError:
        parts = []
    if not parts or any(len(part) != 1 + len(UNIT_COLUMNS) or part[0] < 1 for part in parts):
        message = f"column {USED!r}: expected such parts for nodes from 1, found {used[:40]!r}"
        raise UnusableError("malformed", message)
    if any(part[1:] != parts[0][1:] for part in parts):
        message = f"column {USED!r}: expected equal amounts on all nodes, found {used[:40]!r}"
        raise UnusableError("malformed", message)
    return [part[0] - 1 for part in parts], parts[0][1:]


def _minutes(limit: str) -> int | None:
    """Return a requested time of the form HH:MM in minutes; None if it is empty."""
    if not limit.strip():
        return None
    hours, _, minutes = limit.strip().partition(":")
    if not (hours.isdecimal() and minutes.isdecimal() and int(minutes) < 60):
        raise UnusableError(
            "malformed", f"column {LIMIT!r}: expected HH:MM, found {limit.strip()[:40]!r}"
        )
    return 60 * int(hours) + int(minutes)


NAMES = (
    "jobid", "user", "vc", "status", "submitted_time", "start_time", "end_time", "servers", "gpus",
)  # fmt: skip
"""Columns: keys of a job, times of its first and last attempt, and sizes of its first."""

_OF_A_JOB = NAMES[:5]


class PhillyRows:
    """Rows of a job log of Microsoft's Philly clusters (`cluster_job_log`), JSON.

    The log is a list of jobs with their attempts. As in the notebook of the traces
    (https://github.com/msr-fiddle/philly-traces), a job starts with its first attempt, ends with
    its last, and has the GPUs of its first.
    """

    comments: Sequence[str] = ()
    names: Sequence[str] = NAMES

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jobs = self._loaded()
        self._wanted: Sequence[str] = ()
        self._read = 0

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the jobs that has been read, from 0 to 1."""
        return self._read / len(self._jobs) if self._jobs else 1.0

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the position, from 1, and the object of each job."""
        self._read = 0
        for job in self._jobs:
            self._read += 1
            yield self._read, job

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a job."""
        try:
            found = _columns(record)
        except (KeyError, TypeError, AttributeError):
            message = "expected a job with attempts, each with start_time, end_time and detail"
            raise UnusableError("malformed", message) from None
        return [found.get(name) for name in self._wanted]

    def _loaded(self) -> list[Any]:
        try:
            with open_file(self.path) as raw:
                jobs = json.loads(whole_text(unpacked(raw), b"[", str(self.path)))
        except DAMAGE as error:
            message = f"expected a whole compressed file, found damage: {error}"
            raise self._problem("damaged-trace", message) from None
        except OSError as error:
            message = f"the trace cannot be read: {error.strerror or error}"
            raise self._problem("unreadable-trace", message) from None
        except (ValueError, RecursionError) as error:
            message = f"expected the job log of Philly (cluster_job_log), which is JSON: {error}"
            raise self._problem("malformed", message) from None
        if not isinstance(jobs, list):
            raise self._problem("malformed", "expected the job log of Philly, a list of jobs")
        return jobs

    def _problem(self, rule: str, message: str) -> InputError:
        return InputError(Finding(rule, message, Place(str(self.path))))


def _columns(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a job; raises KeyError, TypeError or AttributeError if it is none."""
    found = {name: _given(job[name]) for name in _OF_A_JOB}
    attempts = job["attempts"]
    if attempts:
        detail = attempts[0]["detail"]
        found["start_time"] = _given(attempts[0]["start_time"])
        found["end_time"] = _given(attempts[-1]["end_time"])
        found["servers"] = len(detail) or None
        found["gpus"] = sum(len(server["gpus"]) for server in detail) or None
    return found


def _given(value: Any) -> Any:
    """Return a value, or None for the word None that the log has for it."""
    return None if value == "None" else value


_TABLES = (".csv", *(f".csv{ending}" for ending in ENDINGS), ".parquet")


def rows_of(params: "TableParams", encoding: TextEncoding) -> Rows:
    """Return the rows of a table."""
    path = Path(params.path)

    def read(file: Path) -> Rows:
        if params.format == "philly":
            return PhillyRows(file)
        if params.format == "eurora":
            return EuroraRows(file, encoding)
        return open_rows(file, params.delimiter, encoding, params.column_names)

    return FolderRows(path, read) if path.is_dir() else read(path)


def table_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and the folders within, in the order of their paths."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.name.endswith(_TABLES) and not path.name.startswith(".") and path.is_file()
    ]
    if not found:
        message = (
            f"expected tables in the folder, by names that end in {', '.join(_TABLES)};"
            " found none; a log of another format is one file"
        )
        raise InputError(Finding("empty-trace", message, Place(str(folder))))
    return found


class FolderRows:
    """Rows of several files with the same columns, one file after the other.

    Attributes
    ----------
    path
        The file that is being read, to which the numbers of rows refer.
    """

    def __init__(self, folder: Path, read: Callable[[Path], Rows]) -> None:
        self.files: Sequence[Path] = table_files(folder)
        self.path = self.files[0]
        self._read = read
        self._wanted: Sequence[str] = ()
        self._current = read(self.path)
        self.names = self._current.names
        self.comments = self._current.comments

    @property
    def fraction_read(self) -> float:
        """Fraction of the files that has been read, from 0 to 1, by size."""
        sizes = [file.stat().st_size for file in self.files]
        at = self.files.index(self.path)
        done = sum(sizes[:at]) + sizes[at] * self._current.fraction_read
        return done / sum(sizes) if sum(sizes) else 1.0

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number, within its file, and the content of each row."""
        for file in self.files:
            self.path, self._current = file, self._read(file)
            lacking = [name for name in self._wanted if name not in self._current.names]
            if lacking:
                message = f"expected the columns of {self.files[0]}; there is no {lacking[0]!r}"
                raise InputError(Finding("missing-column", message, Place(str(file))))
            self._current.select(self._wanted)
            with closing(self._current.records()) as rows:
                yield from rows

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a row of the file that is being read."""
        return self._current.values(record)
