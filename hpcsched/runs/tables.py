"""Parquet files of a run as tables for metrics."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.arrow_arrays import computed, numpy_array, text_array
from hpcsched.dispatching.decision import SOLVED
from hpcsched.errors import InputError
from hpcsched.metrics.metric import RunTables
from hpcsched.metrics.metric_tables import Column, DownAmounts
from hpcsched.runs.files import JOBS, ROUNDS
from hpcsched.runs.former_names import FORMER_REFUSALS
from hpcsched.whole_files import problem
from hpcsched.workload.job_columns import present_names


class ParquetTable:
    """Stream of named columns of a Parquet file, a row group at a time.

    A field within a column is named with a dot: `unit_request.core`. Columns are int64, float64 or
    bool. What earlier versions called otherwise has its present name.

    Parameters
    ----------
    ran_only
        True: leave out rows without a start time, which are rejected jobs.
    """

    def __init__(self, path: Path, *, ran_only: bool = False) -> None:
        self._path = path
        self._ran_only = ran_only
        with self._open() as file:
            self._metadata = file.metadata
            stored: pa.Schema = file.schema_arrow
        present = present_names(stored.names)
        self._stored = dict(zip(present, stored.names, strict=True))
        self._schema = pa.schema(map(pa.Field.with_name, stored, present), metadata=stored.metadata)
        self.rows: int = self._metadata.num_rows

    def check_columns(self, columns: pa.Schema) -> None:
        """Check the names and types of all columns.

        Raises
        ------
        InputError
            If a column has another name or type.
        """
        for k, (expected, found) in enumerate(zip_longest(columns, self._schema), start=1):
            if expected is None or found is None or expected != found:
                raise self._damaged(f"column {k}: expected {_told(expected)}, found {_told(found)}")

    def has(self, column: str) -> bool:
        """Return True if there is a column of that name."""
        return column in self._schema.names

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch.

        Raises
        ------
        InputError
            If a column is unknown or the file is damaged.
        """
        for part in self.parts(*columns):
            yield tuple(_values(part, column) for column in columns)

    def read(self, *columns: str) -> pa.Table:
        """Return whole columns as an Arrow table.

        Raises
        ------
        InputError
            If a column is unknown or the file is damaged.
        """
        for column in columns:
            self._check(column)
        with self._open() as file:
            try:
                return _valid(file.read(columns=sorted(map(self._stored_name, columns))))
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(error) from error

    def least(self, column: str) -> Any:
        """Return the least value of a column, or None; raises InputError as `read` does."""
        return computed("min", self.read(column)[column]).as_py()

    def whole(self) -> pa.Table:
        """Return all rows and columns as an Arrow table.

        The file is mapped into memory, so that its bytes are not copied before they are decoded.

        Raises
        ------
        InputError
            If the file is damaged.
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
        """Yield the named columns as Arrow tables, a row group at a time.

        Raises
        ------
        InputError
            If a column is unknown or the file is damaged.
        """
        for column in columns:
            self._check(column)
        needed = {*columns, "start_time"} if self._ran_only else {*columns}
        names = sorted(map(self._stored_name, needed))
        with self._open() as file:
            for group in range(self._metadata.num_row_groups):
                try:
                    part = file.read_row_group(group, columns=names, use_threads=False)
                    part = _valid(part)
                except (OSError, pa.ArrowException) as error:
                    raise self._damaged(error) from error
                if self._ran_only and part["start_time"].null_count:
                    part = computed("filter", part, computed("is_valid", part["start_time"]))
                yield part

    def _stored_name(self, column: str) -> str:
        """Return a column's name in the file, with the field within it."""
        name, dot, field = column.partition(".")
        return f"{self._stored.get(name, name)}{dot}{field}"

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
            there = ", ".join(inside or self._schema.names)
            message = f"it has no column {column!r}; there are: {there}"
            raise problem("unknown-column", self._path, message)


KEPT_BYTES = 8 * 2**20
"""Bytes that a `KeptTable` keeps at most: all columns of metrics for 150,000 jobs."""


class KeptTable:
    """Table of a Parquet file that keeps decoded columns while there is room.

    Metrics ask for the same few columns again and again. Columns are read-only.

    Parameters
    ----------
    room
        Largest size of the kept columns, in bytes.
    """

    def __init__(self, table: ParquetTable, room: int = KEPT_BYTES) -> None:
        self._table = table
        self._room = room
        self._kept: dict[str, list[Column]] = {}

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch.

        Raises
        ------
        InputError
            If a column is unknown or the file is damaged.
        """
        missing = [column for column in dict.fromkeys(columns) if column not in self._kept]
        size = self._table.rows * 8 * len(missing)
        # Too large to keep: stream the file again.
        if size > self._room:
            yield from self._table.batches(*columns)
            return
        if missing:
            batches = list(self._table.batches(*missing))
            self._room -= size
            for k, column in enumerate(missing):
                self._kept[column] = [batch[k] for batch in batches]
                for values in self._kept[column]:
                    # A metric that wrote into a shared column would change the next one.
                    values.flags.writeable = False
        yield from zip(*(self._kept[column] for column in columns), strict=True)


class ArrowTable:
    """Arrow table in memory as a table for metrics: one batch of all rows."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns in one batch.

        Raises
        ------
        KeyError
            If a column is unknown.
        """
        yield tuple(_values(self.table, column) for column in columns)


def run_tables(
    folder: Path, capacity: dict[str, int], down: Mapping[str, DownAmounts] = MappingProxyType({})
) -> RunTables:
    """Return the tables of a run.

    Parameters
    ----------
    capacity
        Capacity of the system, by resource type.
    down
        Amounts out of service over time, by resource type.

    Raises
    ------
    InputError
        If a table is missing or damaged.
    """
    return RunTables(
        jobs=KeptTable(ParquetTable(folder / JOBS, ran_only=True)),
        rounds=ParquetTable(folder / ROUNDS),
        capacity=capacity,
        down=down,
    )


def state_counts(folder: Path) -> dict[str, int]:
    """Return the number of jobs that have left the system, by state."""
    return _value_counts(part["state"] for part in ParquetTable(folder / JOBS).parts("state"))


def rejection_counts(folder: Path) -> dict[str, int]:
    """Return the number of rejected jobs, by rule, sorted by name."""
    columns = (
        computed("drop_null", part["rejected_by"].combine_chunks())
        for part in ParquetTable(folder / JOBS).parts("rejected_by")
    )
    return dict(sorted(_value_counts(columns).items()))


def solver_statuses(folder: Path) -> dict[str, int]:
    """Return the number of rounds that asked a solver, by status, sorted by name."""
    columns = (
        computed("drop_null", part["solver"].combine_chunks()).field("status")
        for part in ParquetTable(folder / ROUNDS).parts("solver")
    )
    return dict(sorted(_value_counts(columns).items()))


def first_unsolved(folder: Path) -> tuple[int, str] | None:
    """Return number and message of the first round in which a solver had no plan; None if none."""
    for part in ParquetTable(folder / ROUNDS).parts("round", "solver"):
        for number, call in zip(part["round"].to_pylist(), part["solver"].to_pylist(), strict=True):
            if call is not None and call["status"] not in SOLVED and call["why"]:
                return number, call["why"]
    return None


def present_table(table: pa.Table) -> pa.Table:
    """Return a table of a run by the present names of its columns and of the rules."""
    table = table.rename_columns(present_names(table.column_names))
    k = table.schema.get_field_index("rejected_by")
    if k < 0 or table.schema.field(k).type != pa.string():
        return table
    rules = table.column(k)
    for former, rule in FORMER_REFUSALS.items():
        # Elements of arrays, as `pyarrow.scalar` would import pandas.
        found = computed("equal", rules, text_array([former])[0])
        rules = computed("if_else", found, text_array([rule])[0], rules)
    return table.set_column(k, table.schema.field(k), rules)


def _told(field: pa.Field | None) -> str:
    if field is None:
        return "none"
    return f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"


def _valid(table: pa.Table) -> pa.Table:
    """Return the table with present names, after a check that its strings are valid UTF-8."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            # Arrow's own message has the column's place among those that were asked for.
            raise pa.ArrowInvalid(f"column {name}: {error}") from error
    return present_table(table)


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
