"""Rows of tables: CSV files, folders of tables, and the job logs of Eurora and Philly.

CSV files are read line by line with the standard library, so that each message can name its line: a
value cannot continue on the next line.
"""

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.text_files import ENDINGS, TextLines, read_text, reading

if TYPE_CHECKING:
    from hpcsched.workload.readers.table import TableParams

PARQUET_MAGIC = b"PAR1"


class Rows(ABC):
    """Rows of a table.

    Attributes
    ----------
    path
        The file that is being read, to which the numbers of rows refer.
    names
        Names of the columns.
    wanted
        Columns to read.
    """

    comments: Sequence[str] = ()
    wanted: Sequence[str] = ()
    fraction_read: float = 0.0

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path = path
        self.names = names
        double = next((n for k, n in enumerate(names) if n in names[:k]), None)
        if double is not None:
            raise self._malformed(f"two columns are called {double[:40]!r}")

    @property
    def files(self) -> Sequence[Path]:
        """All files of the table."""
        return [self.path]

    @abstractmethod
    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and content of each row.

        The number is that of the line or, in a file without lines, the position from 1.
        """

    def values(self, record: Any) -> Mapping[str, Any]:
        """Return the values of a row by column; raises ValueError if the record is no row."""
        found: Mapping[str, Any] = record
        return found

    def _malformed(self, message: str, line: int | None = None) -> InputError:
        return InputError(Finding("malformed", message, Place(str(self.path), line)))


def open_rows(path: Path, delimiter: str, names: Sequence[str] | None = None) -> Rows:
    """Return the rows of a table; its first bytes decide the format.

    Parameters
    ----------
    names
        Names of the columns of a CSV file without a header; None: its first line has them.
    """
    with reading(path), open_file(path) as file:
        start = file.read(4)
    if start == PARQUET_MAGIC:
        # It imports pyarrow, which takes its time.
        from hpcsched.workload.readers.parquet_rows import ParquetRows  # noqa: PLC0415

        return ParquetRows(path)
    return CsvRows(path, delimiter, names)


class CsvRows(Rows):
    """Rows of a CSV file; the first line has the names of the columns, unless they are given."""

    def __init__(self, path: Path, delimiter: str, names: Sequence[str] | None = None) -> None:
        self.path = path
        self._lines = TextLines(path)
        self._delimiter = delimiter
        self._headers = 1 if names is None else 0
        if names is None:
            number, line = next(self._lines.records(), (1, ""))
            try:
                names = [name.strip() for name in self._split(line)]
            except ValueError as error:
                raise self._malformed(str(error), number) from None
            if not names:
                message = "expected a line that names the columns, found nothing"
                raise self._malformed(message, number)
        super().__init__(path, names)

    @property
    def fraction_read(self) -> float:  # type: ignore[override]
        """Fraction of the file that has been read, from 0 to 1."""
        return self._lines.fraction_read

    def records(self) -> Generator[tuple[int, str], None, None]:
        """Yield the number and the text of each line after that with the names."""
        with closing(self._lines.records()) as lines:
            yield from islice(lines, self._headers, None)

    def values(self, record: str) -> Mapping[str, Any]:
        """Return the values of a line."""
        fields = self._split(record)
        if len(fields) != len(self.names):
            raise ValueError(f"expected {len(self.names)} values, found {len(fields)}")
        return dict(zip(self.names, fields, strict=True))

    def _split(self, line: str) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self._delimiter, strict=True), [])
        except csv.Error as error:
            raise ValueError(f"expected values of CSV: {error}") from None


USED = "used (node:cores:gpus:mics:mem per node)"
LIMIT = "requested_time"
UNIT_COLUMNS = ("core", "gpu", "mic", "mem_kib")
MINUTES, NODES, APART = "requested_minutes", "used_nodes", "on_nodes_of_its_own"


class EuroraRows(CsvRows):
    """Rows of the log of Eurora, CSV with the nodes of each job; nodes are numbered from 0.

    Further columns come from that of the nodes: what a unit has, and where the job ran. The
    requested memory of the log is not used: of 5,930 records, it is in MB in 701, 1 whatever the
    job was given in 577, and in GiB in the others. The amounts of the nodes used are in KiB
    throughout.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, ";")
        self._columns = self.names
        if not {USED, LIMIT} <= set(self.names):
            message = f"expected the log of Eurora, with the columns {LIMIT} and {USED}; there are:"
            raise self._malformed(f"{message} {', '.join(self.names)[:200]}", 1)
        self._derived = (*UNIT_COLUMNS, MINUTES, NODES, APART)
        self.names = [*self.names, *self._derived]

    def values(self, record: str) -> Mapping[str, Any]:
        """Return the values of a line, and those that follow from them."""
        row = dict(zip(self._columns, self._split(record), strict=False))
        used, limit = row.get(USED, ""), row.get(LIMIT, "").strip()
        try:
            parts = [tuple(int(number) for number in part.split(":")) for part in used.split()]
        except ValueError:
            parts = []
        if not parts or any(len(part) != 1 + len(UNIT_COLUMNS) or part[0] < 1 for part in parts):
            message = "expected such parts for nodes from 1"
            raise ValueError(f"column {USED!r}: {message}, found {used[:40]!r}")
        unit = parts[0][1:]
        if any(part[1:] != unit for part in parts):
            message = "expected equal amounts on all nodes"
            raise ValueError(f"column {USED!r}: {message}, found {used[:40]!r}")
        hours, _, minutes = limit.partition(":")
        if limit and not (hours.isdecimal() and minutes.isdecimal() and int(minutes) < 60):
            raise ValueError(f"column {LIMIT!r}: expected HH:MM, found {limit[:40]!r}")
        nodes = sorted({part[0] - 1 for part in parts})
        total = 60 * int(hours) + int(minutes) if limit else None
        derived = (*unit, total, nodes, len(nodes) == len(parts))
        return {**row, **dict(zip(self._derived, derived, strict=True))}


NAMES = (
    "jobid", "user", "vc", "status", "submitted_time", "start_time", "end_time", "servers", "gpus",
)  # fmt: skip
"""Columns: keys of a job, times of its first and last attempt, and sizes of its first."""


class PhillyRows(Rows):
    """Rows of a job log of Microsoft's Philly clusters (`cluster_job_log`), JSON.

    The log is a list of jobs with their attempts. As in the notebook of the traces
    (https://github.com/msr-fiddle/philly-traces), a job starts with its first attempt, ends with
    its last, and has the GPUs of its first.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, NAMES)
        try:
            self._jobs = json.loads(read_text(path))
        except (ValueError, RecursionError) as error:
            message = f"expected the job log of Philly (cluster_job_log), which is JSON: {error}"
            raise self._malformed(message) from None
        if not isinstance(self._jobs, list):
            raise self._malformed("expected the job log of Philly, a list of jobs")

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the position, from 1, and the object of each job."""
        for number, job in enumerate(self._jobs, 1):
            self.fraction_read = number / len(self._jobs)
            yield number, job

    def values(self, record: Any) -> Mapping[str, Any]:
        """Return the values of a job."""
        try:
            found = {**dict.fromkeys(NAMES), **{name: record[name] for name in NAMES[:5]}}
            attempts = record["attempts"]
            if attempts:
                detail = attempts[0]["detail"]
                found["start_time"] = attempts[0]["start_time"]
                found["end_time"] = attempts[-1]["end_time"]
                found["servers"] = len(detail) or None
                found["gpus"] = sum(len(server["gpus"]) for server in detail) or None
        except (KeyError, TypeError, AttributeError):
            message = "expected a job with attempts, each with start_time, end_time and detail"
            raise ValueError(message) from None
        # The log has the word None for what is not known.
        return {name: None if value == "None" else value for name, value in found.items()}


_TABLES = (".csv", *(f".csv{ending}" for ending in ENDINGS), ".parquet")


def rows_of(params: "TableParams") -> Rows:
    """Return the rows of a table."""
    path = Path(params.path)

    def read(file: Path) -> Rows:
        if params.format == "philly":
            return PhillyRows(file)
        if params.format == "eurora":
            return EuroraRows(file)
        return open_rows(file, params.delimiter, params.column_names)

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


class FolderRows(Rows):
    """Rows of several files with the same columns, one file after the other."""

    files: Sequence[Path] = ()

    def __init__(self, folder: Path, read: Callable[[Path], Rows]) -> None:
        self.files = table_files(folder)
        self._read = read
        self._current = read(self.files[0])
        self.comments = self._current.comments
        super().__init__(self.files[0], self._current.names)

    @property
    def fraction_read(self) -> float:  # type: ignore[override]
        """Fraction of the files that has been read, from 0 to 1, by number."""
        return (self.files.index(self.path) + self._current.fraction_read) / len(self.files)

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number, within its file, and the content of each row."""
        for file in self.files:
            self.path, self._current = file, self._read(file)
            lacking = [name for name in self.wanted if name not in self._current.names]
            if lacking:
                message = f"expected the columns of {self.files[0]}; there is no {lacking[0]!r}"
                raise InputError(Finding("missing-column", message, Place(str(file))))
            self._current.wanted = self.wanted
            with closing(self._current.records()) as rows:
                yield from rows

    def values(self, record: Any) -> Mapping[str, Any]:
        """Return the values of a row of the file that is being read."""
        return self._current.values(record)
