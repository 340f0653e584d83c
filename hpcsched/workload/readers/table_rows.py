"""Rows of tables, and the reader of those of CSV files, plain or compressed.

They are read line by line with the standard library, so that each message can name its line: a
value cannot continue on the next line.
"""

import csv
from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.text_encoding import TextEncoding
from hpcsched.workload.readers.text_lines import TextLines

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

    Raises
    ------
    InputError
        If the file cannot be read or is no table.
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
        """Return the selected values of a line.

        Raises
        ------
        UnusableError
            If the line is no row.
        """
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
