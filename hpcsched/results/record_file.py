"""A Parquet file that grows with a run: records are kept until there are enough for a row group."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.results.files import problem

BATCH = 4096
"""How many records are turned into columns at once, while the processor's cache holds them."""
ROW_GROUP = 8 * BATCH

Record = TypeVar("Record")
Convert = Callable[[Sequence[Record], pa.Schema], list[pa.Array]]


class RecordFile(Generic[Record]):
    """A Parquet file that records are appended to, a row group at a time.

    `convert` turns records into the columns of `schema`; those named in `repetitive` are written by
    their few different values. Raises InputError where the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        schema: pa.Schema,
        convert: Convert[Record],
        repetitive: Sequence[str] = (),
    ) -> None:
        self._path, self._schema, self._convert = path, schema, convert
        self._records: list[Record] = []
        self._batches: list[pa.Table] = []
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
            raise problem("cannot-write", path, f"it cannot be written: {error}") from error

    def add(self, record: Record) -> None:
        """Write a record, sooner or later."""
        self._records.append(record)
        if len(self._records) >= BATCH:
            self._convert_records()
            if len(self._batches) * BATCH >= ROW_GROUP:
                self._write_batches()

    def close(self) -> None:
        """Write what is left and finish the file."""
        try:
            if self._records:
                self._convert_records()
            if self._batches:
                self._write_batches()
        finally:
            self._writer.close()

    def _convert_records(self) -> None:
        columns = self._convert(self._records, self._schema)
        batch = pa.Table.from_arrays(columns, schema=self._schema)
        # In this order an interruption cannot leave records in both places.
        self._records = []
        self._batches.append(batch)

    def _write_batches(self) -> None:
        try:
            self._writer.write_table(pa.concat_tables(self._batches))
        except OSError as error:
            raise problem("cannot-write", self._path, f"it cannot be written: {error}") from error
        finally:
            # Also when an interruption arrives while writing: a row must not be written twice.
            self._batches = []


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


def transposed(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the columns of rows; `zip(*rows)` would keep the garbage collector busy."""
    return [list(map(itemgetter(k), rows)) for k in range(len(rows[0]))]


def whole(values: Sequence[int]) -> pa.Array:
    """Return a column of whole numbers, none missing.

    That takes half the time that Arrow takes where it has to look for missing values.
    """
    return pa.array(np.fromiter(values, dtype=np.int64, count=len(values)))
