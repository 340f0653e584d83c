"""Tables of a run for metrics: columns in memory, and the Parquet files."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.arrow_arrays import computed, numpy_array
from hpcsched.dispatching.decision import SOLVED
from hpcsched.errors import InputError
from hpcsched.metrics.metric import Column
from hpcsched.runs.files import JOBS, ROUNDS
from hpcsched.runs.solver_rounds import is_lost
from hpcsched.whole_files import problem


class ParquetTable:
    """Stream of named columns of a Parquet file, a row group at a time.

    A field within a column is named with a dot: `unit_request.core`. Columns are int64, float64 or
    bool.

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
            self.schema: pa.Schema = file.schema_arrow
        self.rows: int = self._metadata.num_rows

    def check_columns(self, columns: pa.Schema) -> None:
        """Check the names and types of all columns."""
        for k, (expected, found) in enumerate(zip_longest(columns, self.schema), start=1):
            if expected is None or found is None or expected != found:
                raise self._damaged(f"column {k}: expected {_told(expected)}, found {_told(found)}")

    def has(self, column: str) -> bool:
        """Return True if there is a column of that name."""
        return column in self.schema.names

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch."""
        for part in self.parts(*columns):
            yield tuple(_values(part, column) for column in columns)

    def read(self, *columns: str) -> pa.Table:
        """Return whole columns as an Arrow table."""
        for column in columns:
            self._check(column)
        with self._open() as file:
            try:
                return _valid(file.read(columns=sorted(columns)))
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(error) from error

    def bounds(self, column: str) -> tuple[Any, Any]:
        """Return the least and the largest value of a column; None without any."""
        found: dict[str, Any] = computed("min_max", self.read(column)[column]).as_py()
        return found["min"], found["max"]

    def whole(self) -> pa.Table:
        """Return all rows and columns as an Arrow table.

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
        """Yield the named columns as Arrow tables, a row group at a time."""
        for column in columns:
            self._check(column)
        needed = {*columns, "start_time"} if self._ran_only else {*columns}
        names = sorted(needed)
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
        k = self.schema.get_field_index(name)
        kind = self.schema.field(k).type if k >= 0 else None
        inside = [f.name for f in kind] if isinstance(kind, pa.StructType) else []
        if kind is None or (field and field not in inside):
            there = ", ".join(inside or self.schema.names)
            message = f"it has no column {column!r}; there are: {there}"
            raise problem("unknown-column", self._path, message)


class KeptColumns:
    """Numeric columns of a growing table, kept in memory for metrics.

    Whole numbers are kept in the smallest type that holds those of a part, and a part of equal
    values as one value: about 100 MB for a million jobs and their rounds. Other columns, and those
    in which values are missing, are read from the file, which is there once it is closed.

    Parameters
    ----------
    path
        The file.
    ran_only
        True: leave out rows without a start time, which are rejected jobs.
    """

    def __init__(self, path: Path, *, ran_only: bool = False) -> None:
        self._path, self._ran_only = path, ran_only
        self._parts: list[dict[str, npt.NDArray[Any]]] = []

    def add(self, part: pa.Table) -> None:
        """Append rows."""
        complete = [name for name in part.column_names if _is_numeric(part.schema.field(name).type)]
        part = part.select(complete).combine_chunks()
        if self._ran_only and part["start_time"].null_count:
            part = computed("filter", part, computed("is_valid", part["start_time"]))
        names = (name for name in part.column_names if not part[name].null_count)
        fields = (f"{name}{field}" for name in names for field in _fields(part.schema.field(name)))
        self._parts.append({field: _small(_values(part, field)) for field in fields})

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, a row group at a time."""
        if not self._parts or not all(part.keys() >= {*columns} for part in self._parts):
            yield from ParquetTable(self._path, ran_only=self._ran_only).batches(*columns)
            return
        for part in self._parts:
            yield tuple(_wide(part[column]) for column in columns)


def _is_numeric(kind: pa.DataType) -> bool:
    """Return True for numbers, flags, and structs of them."""
    if isinstance(kind, pa.StructType):
        return all(_is_numeric(field.type) for field in kind)
    return bool(pa.types.is_primitive(kind))


def _fields(column: pa.Field) -> list[str]:
    """Return the fields within a column, each behind a dot; an empty one for a number."""
    kind = column.type
    return [f".{field.name}" for field in kind] if isinstance(kind, pa.StructType) else [""]


def _small(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values of a part in little memory, read-only."""
    if len(values):
        low, high = values.min(), values.max()
        if low == high:
            return np.broadcast_to(values[:1].copy(), values.shape)
        if values.dtype == np.int64:
            values = values.astype(np.result_type(*map(np.min_scalar_type, (low, high))))
    values.flags.writeable = False
    return values


def _wide(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers as int64, flags and other numbers as they are."""
    return values.astype(np.int64) if np.issubdtype(values.dtype, np.integer) else values


class ArrowTable:
    """Arrow table in memory as a table for metrics: one batch of all rows."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns in one batch."""
        yield tuple(_values(self.table, column) for column in columns)


class RunRecords:
    """Records of a run for its summary: numeric columns in memory, and counts of the others.

    Attributes
    ----------
    jobs
        The jobs that ran.
    states, rejected_by
        Numbers of jobs by state in which they left, and of rejected ones by rule.
    statuses
        Number of rounds that asked a solver, by status.
    lost_calls
        Number of rounds whose call of a solver was lost with its process.
    """

    def __init__(self, folder: Path) -> None:
        self.jobs = KeptColumns(folder / JOBS, ran_only=True)
        self.rounds = KeptColumns(folder / ROUNDS)
        self.states: Counter[str] = Counter()
        self.rejected_by: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.lost_calls = 0

    def add_jobs(self, part: pa.Table) -> None:
        """Record jobs that have left, rejected ones included."""
        self.jobs.add(part)
        _count(self.states, part["state"])
        _count(self.rejected_by, part["rejected_by"])

    def add_rounds(self, part: pa.Table) -> None:
        """Record dispatching rounds."""
        self.rounds.add(part)
        calls = part["solver"]
        if calls.null_count < len(calls):
            known = computed("drop_null", calls.combine_chunks())
            _count(self.statuses, known.field("status"))
            self.lost_calls += lost_calls(known)


def lost_calls(calls: pa.Array | pa.ChunkedArray) -> int:
    """Return the number of solver calls that were lost with their process."""
    # Most runs ask no solver; so many Python objects would be made for nothing.
    asked = calls.to_pylist() if calls.null_count < len(calls) else ()
    return sum(call is not None and is_lost(call["status"], call["why"]) for call in asked)


def first_unsolved(folder: Path) -> tuple[int, str] | None:
    """Return number and message of the first round in which a solver had no plan; None if none."""
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
    """Return the table with present names, after a check that its strings are valid UTF-8."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            # Arrow's own message has the column's place among those that were asked for.
            raise pa.ArrowInvalid(f"column {name}: {error}") from error
    return table


def _count(counts: Counter[str], column: pa.Array | pa.ChunkedArray) -> None:
    """Add the numbers of a column's values; nulls are left out."""
    if column.null_count < len(column):
        for entry in computed("value_counts", computed("drop_null", column)).to_pylist():
            counts[entry["values"]] += entry["counts"]


def _values(part: pa.Table, column: str) -> npt.NDArray[Any]:
    name, _, field = column.partition(".")
    values = part[name].combine_chunks()
    if field:
        values = values.field(field)
    return numpy_array(values)
