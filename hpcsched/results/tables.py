"""The Parquet files of a run as tables that metrics are computed over."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.arrow_arrays import computed, numpy_array
from hpcsched.dispatching.decision import SOLVED
from hpcsched.errors import InputError
from hpcsched.metrics.metric import RunTables
from hpcsched.metrics.tables import Column, DownAmounts
from hpcsched.results.files import JOBS, ROUNDS, problem


class ParquetTable:
    """Streams named columns of a Parquet file, a row group at a time.

    A field within a column is named with a dot: `unit_request.core`. With `ran_only`, rows without
    a start time, which are rejected jobs, are left out. Columns come as int64, float64 or bool.
    """

    def __init__(self, path: Path, *, ran_only: bool = False) -> None:
        self._path = path
        self._ran_only = ran_only
        with self._open() as file:
            self._metadata = file.metadata
            self._schema: pa.Schema = file.schema_arrow
        self.rows: int = self._metadata.num_rows

    def check_columns(self, columns: pa.Schema) -> None:
        """Check the names and types of all columns; raises InputError where one is another."""
        for k, (expected, found) in enumerate(zip_longest(columns, self._schema), start=1):
            if expected is None or found is None or expected != found:
                raise self._damaged(f"column {k}: expected {_told(expected)}, found {_told(found)}")

    def has(self, column: str) -> bool:
        """Say whether there is a column of a name."""
        return column in self._schema.names

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns; raises InputError for an unknown column or a damaged file."""
        for part in self.parts(*columns):
            yield tuple(_values(part, column) for column in columns)

    def read(self, *columns: str) -> pa.Table:
        """Return whole columns as an Arrow table; raises InputError as `batches` does."""
        for column in columns:
            self._check(column)
        with self._open() as file:
            try:
                return _valid(file.read(columns=sorted(columns)))
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(error) from error

    def whole(self) -> pa.Table:
        """Return all rows and columns as an Arrow table; raises InputError for a damaged file.

        The file is mapped into memory, so that its bytes are not copied before they are decoded.
        """
        try:
            with pq.ParquetFile(self._path, memory_map=True) as file:
                table = _valid(file.read())
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error
        if self._ran_only:
            table = computed("filter", table, computed("is_valid", table["start_time"]))
        return table

    def parts(self, *columns: str) -> Iterator[pa.Table]:
        """Yield the named columns as Arrow tables; raises InputError as `batches` does."""
        for column in columns:
            self._check(column)
        needed = {*columns, "start_time"} if self._ran_only else {*columns}
        with self._open() as file:
            for group in range(self._metadata.num_row_groups):
                try:
                    part = file.read_row_group(group, columns=sorted(needed), use_threads=False)
                    part = _valid(part)
                except (OSError, pa.ArrowException) as error:
                    raise self._damaged(error) from error
                if self._ran_only and part["start_time"].null_count:
                    part = computed("filter", part, computed("is_valid", part["start_time"]))
                yield part

    def _open(self) -> pq.ParquetFile:
        if not self._path.is_file():
            raise problem("missing-file", self._path, "it is missing")
        try:
            return pq.ParquetFile(self._path, metadata=getattr(self, "_metadata", None))
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _damaged(self, how: object) -> InputError:
        return problem("damaged-file", self._path, f"it is damaged: {how}")

    def _check(self, column: str) -> None:
        name, _, field = column.partition(".")
        k = self._schema.get_field_index(name)
        kind = self._schema.field(k).type if k >= 0 else None
        inside = [f.name for f in kind] if isinstance(kind, pa.StructType) else []
        if kind is None or (field and field not in inside):
            raise problem("unknown-column", self._path, f"it has no column {column!r}")


KEPT_BYTES = 8 * 2**20
"""How much a `KeptTable` keeps: all columns of metrics for 150,000 jobs, and never more."""


class KeptTable:
    """A table of a Parquet file whose columns are decoded once, as far as there is room for them.

    Metrics ask for the same few columns again and again. Columns are read-only.
    """

    def __init__(self, table: ParquetTable, room: int = KEPT_BYTES) -> None:
        self._table = table
        self._room = room
        self._kept: dict[str, list[Column]] = {}

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns; raises InputError as `ParquetTable.batches` does."""
        missing = [column for column in dict.fromkeys(columns) if column not in self._kept]
        size = self._table.rows * 8 * len(missing)
        if size > self._room:
            yield from self._table.batches(*columns)
            return
        if missing:
            batches = list(self._table.batches(*missing))
            self._room -= size
            for k, column in enumerate(missing):
                self._kept[column] = [batch[k] for batch in batches]
                for values in self._kept[column]:
                    values.flags.writeable = False
        yield from zip(*(self._kept[column] for column in columns), strict=True)


class ArrowTable:
    """An Arrow table in memory as a table that metrics are computed over: one batch of all rows."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns; raises KeyError for an unknown one."""
        yield tuple(_values(self.table, column) for column in columns)


def run_tables(
    folder: Path, capacity: dict[str, int], down: Mapping[str, DownAmounts] = MappingProxyType({})
) -> RunTables:
    """Return the tables of a run; raises InputError where one is missing or damaged."""
    return RunTables(
        jobs=KeptTable(ParquetTable(folder / JOBS, ran_only=True)),
        rounds=ParquetTable(folder / ROUNDS),
        capacity=capacity,
        down=down,
    )


def state_counts(folder: Path) -> dict[str, int]:
    """Return how many jobs have left the system in each state, by its name."""
    return _value_counts(part["state"] for part in ParquetTable(folder / JOBS).parts("state"))


def rejection_counts(folder: Path) -> dict[str, int]:
    """Return how many jobs were rejected, by what rejected them, in order of names."""
    columns = (
        computed("drop_null", part["rejected_by"].combine_chunks())
        for part in ParquetTable(folder / JOBS).parts("rejected_by")
    )
    return dict(sorted(_value_counts(columns).items()))


def solver_statuses(folder: Path) -> dict[str, int]:
    """Return in how many rounds a solver was asked, by what came of it, in order of names."""
    columns = (
        computed("drop_null", part["solver"].combine_chunks()).field("status")
        for part in ParquetTable(folder / ROUNDS).parts("solver")
    )
    return dict(sorted(_value_counts(columns).items()))


def first_unsolved(folder: Path) -> tuple[int, str] | None:
    """Return the first round in which a solver had no plan and said why, and what it said."""
    for part in ParquetTable(folder / ROUNDS).parts("round", "solver"):
        for number, call in zip(part["round"].to_pylist(), part["solver"].to_pylist(), strict=True):
            if call is not None and call["status"] not in SOLVED and call["why"]:
                return number, call["why"]
    return None


def _told(field: pa.Field | None) -> str:
    if field is None:
        return "none"
    return f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"


def _valid(table: pa.Table) -> pa.Table:
    """Return a table all of whose strings are text; raises ArrowInvalid where some are not."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            # Arrow's own message has the column's place among those that were asked for.
            raise pa.ArrowInvalid(f"column {name}: {error}") from error
    return table


def _value_counts(columns: Iterable[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for column in columns:
        for entry in computed("value_counts", column).to_pylist():
            counts[entry["values"]] = counts.get(entry["values"], 0) + entry["counts"]
    return counts


def _values(part: pa.Table, column: str) -> npt.NDArray[Any]:
    name, _, field = column.partition(".")
    values = part[name].combine_chunks()
    if field:
        values = values.field(field)
    return numpy_array(values)
