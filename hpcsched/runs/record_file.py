"""Parquet files that grow with a run, row group by row group."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.whole_files import cannot_write

BATCH = 4096
"""Number of records that become columns at once, small enough for the processor's cache."""
ROW_GROUP = 8 * BATCH

Record = TypeVar("Record")


class RecordFile(Generic[Record]):
    """A Parquet file that records or tables are appended to, written a row group at a time.

    Equal rows give equal bytes, however they are appended.

    Parameters
    ----------
    convert
        Function that returns records as a table; None: they are tuples of the schema's columns.
    repetitive
        Columns that are written with a dictionary.
    """

    def __init__(
        self,
        path: Path,
        schema: pa.Schema,
        convert: Callable[[Sequence[Record]], pa.Table] | None = None,
        repetitive: Sequence[str] = (),
    ) -> None:
        self._path, self._schema, self._convert = path, schema, convert
        self._records: list[Record] = []
        self._batches: list[pa.Table] = []
        self._rows = 0
        try:
            # Whole numbers as differences: half the size, and twice as fast to read back.
            self._writer = pq.ParquetWriter(
                path,
                schema,
                compression="zstd",
                use_dictionary=list(repetitive),
                column_encoding=dict.fromkeys(_whole_columns(schema), "DELTA_BINARY_PACKED"),
            )
        except OSError as error:
            raise cannot_write(path, error) from error

    def add(self, record: Record) -> None:
        """Append a record."""
        self._records.append(record)
        if len(self._records) >= BATCH:
            self._convert_records()

    def add_table(self, table: pa.Table) -> None:
        """Append rows."""
        if table.num_rows:
            self._batches.append(table)
            self._rows += table.num_rows
            self._write_groups()

    def close(self) -> None:
        """Write the remaining rows and finish the file."""
        try:
            if self._records:
                self._convert_records()
            self._write_groups(least=1)
        finally:
            try:
                self._writer.close()
            except OSError as error:
                # Its finaliser would try, and complain, once more.
                self._writer.is_open = False
                # Without its end it cannot be read.
                with suppress(OSError):
                    self._path.unlink()
                raise cannot_write(self._path, error) from error

    def _convert_records(self) -> None:
        records = self._records
        if self._convert is None:
            arrays = map(pa.array, zip(*records, strict=True), self._schema.types)
            table = pa.Table.from_arrays(list(arrays), schema=self._schema)
        else:
            table = self._convert(records)
        # In this order an interruption cannot leave records in both places.
        self._records = []
        self.add_table(table)

    def _write_groups(self, least: int = ROW_GROUP) -> None:
        """Write row groups of buffered rows, while at least `least` rows are buffered."""
        while self._rows >= least:
            rows = pa.concat_tables(self._batches)
            group, rest = rows.slice(0, ROW_GROUP), rows.slice(ROW_GROUP)
            # Before they are written: an interruption must not have a row be written twice.
            self._batches = [rest] if rest.num_rows else []
            self._rows = rest.num_rows
            try:
                self._writer.write_table(_in_chunks(group))
            except OSError as error:
                raise cannot_write(self._path, error) from error


def _in_chunks(table: pa.Table) -> pa.Table:
    """Return a table in chunks of `BATCH` rows: where chunks begin shows in the bytes of a file."""
    *full, last = (len(chunk) for chunk in table.column(0).chunks)
    if last <= BATCH and all(rows == BATCH for rows in full):
        return table
    whole_table = table.combine_chunks()
    return pa.concat_tables(
        [whole_table.slice(first, BATCH) for first in range(0, table.num_rows, BATCH)]
    )


def _whole_columns(schema: pa.Schema) -> Iterator[str]:
    """Yield the columns of whole numbers, by their paths in a Parquet file."""
    for column in schema:
        if pa.types.is_integer(column.type):
            yield column.name
        elif isinstance(column.type, pa.ListType) and pa.types.is_integer(column.type.value_type):
            yield f"{column.name}.list.element"
        elif isinstance(column.type, pa.StructType):
            yield from (
                f"{column.name}.{field.name}"
                for field in column.type
                if pa.types.is_integer(field.type)
            )
