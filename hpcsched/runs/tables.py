"""Tables of a run for metrics: columns in memory, and the Parquet files."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hpcsched.arrow_arrays import computed, numpy_array
from hpcsched.dispatching.decision import SOLVED
from hpcsched.errors import InputError
from hpcsched.metrics.metric import Column
from hpcsched.runs.files import JOBS, ROUNDS
from hpcsched.runs.solver_rounds import is_lost
from hpcsched.whole_files import file_error


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
        # Columns of a file with one row group, read once: most metrics ask for the same ones.
        self._kept: dict[str, npt.NDArray[Any]] = {}

    def check_columns(self, columns: pa.Schema) -> None:
        """Check the names and types of all columns."""
        for k, (expected, found) in enumerate(zip_longest(columns, self.schema), start=1):
            if expected is None or found is None or expected != found:
                raise self._damaged(f"column {k}: expected {_told(expected)}, found {_told(found)}")

    def has(self, column: str) -> bool:
        """Return True if there is a column of that name."""
        return column in self.schema.names

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch; arrays are not to be changed."""
        if self._metadata.num_row_groups != 1:
            for part in self.parts(*columns):
                yield tuple(_values(part, column) for column in columns)
            return
        lacking = [column for column in columns if column not in self._kept]
        for part in self.parts(*lacking) if lacking else ():
            self._kept |= {column: _values(part, column) for column in lacking}
        yield tuple(self._kept[column] for column in columns)

    def keep(self, *columns: str) -> None:
        """Read columns, with all of their fields, at once if there is one row group.

        Metrics ask for a few at a time; most of the time for a short run would be the opening.
        """
        if self._metadata.num_row_groups == 1:
            fields: list[str] = []
            for column in columns:
                kind = self.schema.field(column).type
                struct = isinstance(kind, pa.StructType)
                fields += [f"{column}.{field.name}" for field in kind] if struct else [column]
            next(self.batches(*fields))

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
            raise file_error("missing-file", self._path, "it is missing")
        try:
            return pq.ParquetFile(self._path, metadata=getattr(self, "_metadata", None))
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _damaged(self, how: object) -> InputError:
        return file_error("damaged-file", self._path, f"it is damaged: {how}")

    def _check(self, column: str) -> None:
        name, _, field = column.partition(".")
        k = self.schema.get_field_index(name)
        kind = self.schema.field(k).type if k >= 0 else None
        inside = [f.name for f in kind] if isinstance(kind, pa.StructType) else []
        if kind is None or (field and field not in inside):
            there = ", ".join(inside or self.schema.names)
            message = f"it has no column {column!r}; there are: {there}"
            raise file_error("unknown-column", self._path, message)


class ArrowTable:
    """Arrow table in memory as a table for metrics: one batch of all rows."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns in one batch."""
        yield tuple(_values(self.table, column) for column in columns)


_TIMES = ("submit_time", "start_time", "end_time", "run_time")
_AMOUNTS = ("waiting_amounts", "free_amounts", "lost_amounts")


class RunRecords:
    """Records of a run that has ended, for its summary.

    Attributes
    ----------
    jobs, left
        The jobs that ran, and all that have left.
    states, rejected_by
        Numbers of jobs by state in which they left, and of rejected ones by rule.
    statuses
        Number of rounds that asked a solver, by status.
    lost_calls
        Number of rounds whose call of a solver was lost with its process.
    """

    def __init__(self, folder: Path) -> None:
        self.jobs = ParquetTable(folder / JOBS, ran_only=True)
        self.rounds = ParquetTable(folder / ROUNDS)
        self.left = ParquetTable(folder / JOBS)
        self.jobs.keep(*_TIMES, "demand", "units", "unit_request")
        self.rounds.keep("now", "latency", *_AMOUNTS, "decision_time", "fallback")
        left = self.left.read("state", "rejected_by")
        self.states, self.rejected_by = _counts(left["state"]), _counts(left["rejected_by"])
        self.statuses: Counter[str] = Counter()
        self.lost_calls = 0
        # Part by part: the fields of a year's calls take more memory than all that metrics read.
        for part in self.rounds.parts("solver"):
            calls = computed("drop_null", part["solver"])
            self.statuses.update(call["status"] for call in calls.to_pylist())
            self.lost_calls += lost_calls(calls)


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


def _counts(column: pa.ChunkedArray) -> Counter[str]:
    """Return the numbers of a column's values; nulls are left out."""
    entries = computed("value_counts", computed("drop_null", column)).to_pylist()
    return Counter({entry["values"]: entry["counts"] for entry in entries})


def _values(part: pa.Table, column: str) -> npt.NDArray[Any]:
    name, _, field = column.partition(".")
    values = part[name].combine_chunks()
    if field:
        values = values.field(field)
    return numpy_array(values)
