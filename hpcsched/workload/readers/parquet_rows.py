"""Reader of the rows of Parquet files, in batches."""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.table_rows import Rows

COMMENTS_KEY = b"hpcsched.comments"
"""Key in the metadata of a Parquet file for the trace's header comments, one a line."""

_BATCH = 10_000


class ParquetRows(Rows):
    """Rows of a Parquet file; a field of a structure is a column named `structure.field`."""

    def __init__(self, path: Path) -> None:
        try:
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
                self._count = file.metadata.num_rows
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(path, error) from None
        super().__init__(path, schema.empty_table().flatten().column_names)
        text = (schema.metadata or {}).get(COMMENTS_KEY, b"").decode("utf-8", "replace")
        self.comments = text.splitlines()

    def records(self) -> Generator[tuple[int, Mapping[str, Any]], None, None]:
        """Yield the number of each row, from 1, and its values by column."""
        number = 0
        wanted = list(dict.fromkeys(self.wanted))
        try:
            # One thread: a trace is read while others simulate, and batches come one by one.
            with pq.ParquetFile(self.path) as file:
                for batch in file.iter_batches(_BATCH, columns=wanted, use_threads=False):
                    table = pa.Table.from_batches([batch]).flatten()
                    columns = [_plain(table.column(name)) for name in wanted]
                    for row in zip(*columns, strict=True):
                        number += 1
                        self.fraction_read = number / self._count
                        yield number, dict(zip(wanted, row, strict=True))
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            raise _damaged(self.path, error, number) from None


def _damaged(path: Path, error: Exception, number: int = 0) -> InputError:
    if isinstance(error, OSError) and error.errno is not None:
        message = f"the trace cannot be read: {error.strerror or error}"
        return InputError(Finding("unreadable-trace", message, Place(str(path))))
    what = " ".join(str(error).split())[:200]
    row = f" after row {number}" if number else ""
    message = f"expected a whole Parquet file, found damage{row}: {what}"
    return InputError(Finding("damaged-trace", message, Place(str(path))))


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column as numbers, texts, times, time spans, lists of these, or None.

    Time stamps with a zone have it in UTC. Parts of a microsecond are cut off.
    """
    kind = column.type
    zone = "UTC" if pa.types.is_timestamp(kind) and kind.tz is not None else None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = _cast(column, pa.timestamp("us", zone))
    elif pa.types.is_duration(kind):
        column = _cast(column, pa.duration("us"))
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.string())
    plain: list[Any] = column.to_pylist()
    return plain


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column.cast(options=pc.CastOptions(kind, allow_time_truncate=True))
