"""Reader of the rows of Parquet files, in batches."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.quantities import InSeconds, WallTime, exact_seconds

COMMENTS_KEY = b"hpcsched.comments"
"""Key in the metadata of a Parquet file for the trace's header comments, one a line."""

_BATCH = 10_000
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class ParquetRows:
    """Rows of a Parquet file; a field of a structure is a column named `structure.field`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._wanted: Sequence[str] = ()
        self._read = self._count = 0
        try:
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
                metadata = schema.metadata or {}
                self._count = file.metadata.num_rows
                self.names: Sequence[str] = schema.empty_table().flatten().column_names
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None
        self._roots = {name: root for root in schema.names for name in _within(schema, root)}
        text = metadata.get(COMMENTS_KEY, b"").decode("utf-8", "replace")
        self.comments: Sequence[str] = text.splitlines()
        double = next((n for k, n in enumerate(self.names) if n in self.names[:k]), None)
        if double is not None:
            message = f"two columns are called {double[:40]!r}"
            raise InputError(Finding("malformed", message, Place(str(path))))

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the table that has been read, from 0 to 1."""
        return self._read / self._count if self._count else 1.0

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Sequence[Any]], None, None]:
        """Yield the number of each row, from 1, and its values."""
        self._read = 0
        for rows in self._batches():
            for row in rows:
                self._read += 1
                yield self._read, row

    def values(self, record: Sequence[Any]) -> Sequence[Any]:
        """Return the values of a row: Parquet reads the selected columns only."""
        return record

    def _batches(self) -> Iterator[Iterator[Sequence[Any]]]:
        roots = list(dict.fromkeys(self._roots[name] for name in self._wanted))
        try:
            # One thread: a trace is read while others simulate, and batches come one by one.
            with pq.ParquetFile(self.path) as file:
                for batch in file.iter_batches(_BATCH, columns=roots, use_threads=False):
                    table = pa.Table.from_batches([batch]).flatten()
                    columns = [_plain(table.column(name)) for name in self._wanted]
                    yield zip(*columns, strict=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> InputError:
        if isinstance(error, OSError) and error.errno is not None:
            message = f"the trace cannot be read: {error.strerror or error}"
            return InputError(Finding("unreadable-trace", message, Place(str(self.path))))
        what = " ".join(str(error).split())[:200]
        row = f" after row {self._read}" if self._read else ""
        message = f"expected a whole Parquet file, found damage{row}: {what}"
        return InputError(Finding("damaged-trace", message, Place(str(self.path))))


def _within(schema: pa.Schema, root: str) -> Sequence[str]:
    """Return the names of a field's columns."""
    field = schema.field(root)
    if pa.types.is_struct(field.type):
        return [f"{root}.{inner.name}" for inner in field.type]
    return [root]


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column as numbers, texts, lists of them, or None.

    Time stamps with a zone become Unix times, those without become `WallTime`; durations become
    seconds.
    """
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("s"))
        kind = column.type
    if pa.types.is_timestamp(kind):
        per_second = _PER_SECOND[kind.unit]
        instants = _seconds(column, per_second)
        if kind.tz is not None:
            return [None if n is None else InSeconds(n) for n in instants]
        return [None if n is None else WallTime(n) for n in instants]
    if pa.types.is_duration(kind):
        seconds = _seconds(column, _PER_SECOND[kind.unit])
        return [None if n is None else InSeconds(n) for n in seconds]
    if pa.types.is_decimal(kind):
        column = column.cast(pa.string())
    plain: list[Any] = column.to_pylist()
    return plain


def _seconds(column: pa.ChunkedArray, per_second: int) -> list[Any]:
    """Return numbers of parts of a second in seconds, or None."""
    counts = column.cast(pa.int64()).to_pylist()
    return [None if n is None else exact_seconds(n, per_second) for n in counts]
