"""The observer that streams a run into its Parquet files."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hpcsched.results.columns import JOB_COLUMNS, ROUND_COLUMNS
from hpcsched.results.files import JOBS, ROUNDS
from hpcsched.results.parquet_schemas import STATES, jobs_schema, rounds_schema
from hpcsched.results.placements import placement_columns
from hpcsched.results.record_file import RecordFile, transposed, whole
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.system import System
from hpcsched.workload.job_columns import Column

LARGEST = 2**63 - 1


class RunRecorder(Observer):
    """Observer that writes `jobs.parquet` and `rounds.parquet`; `close` it after the run.

    Memory holds one row group of each. Equal runs give equal bytes in `jobs.parquet`.

    Raises
    ------
    InputError
        If a file cannot be written.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self._jobs: RecordFile[JobRecord] = RecordFile(
            folder / JOBS, jobs_schema(system), job_columns, repetitive=["state", "rejected_by"]
        )
        self._rounds: RecordFile[RoundRecord] = RecordFile(
            folder / ROUNDS, rounds_schema(system), round_columns
        )

    def job_ended(self, record: JobRecord) -> None:
        """Record a job that has left the system."""
        self._jobs.add(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Record a dispatching round."""
        self._rounds.add(record)

    def replayed(self, jobs: pa.Table, rounds: pa.Table) -> None:
        """Record tables of jobs that have left and of rounds, with the columns of the files."""
        self._jobs.add_table(jobs)
        self._rounds.add_table(rounds)

    def close(self) -> None:
        """Write the remaining rows and finish the files."""
        try:
            self._jobs.close()
        finally:
            self._rounds.close()


def job_columns(records: Sequence[JobRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `jobs_schema`."""
    # The nodes of all jobs at once, which takes a fraction of the time that one by one does.
    nodes, node_units = placement_columns([record.allocation for record in records])
    placed = {"nodes": nodes, "node_units": node_units}
    return _columns([c for c in JOB_COLUMNS if c.name not in placed], records, schema, placed)


def round_columns(records: Sequence[RoundRecord], schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `rounds_schema`."""
    return _columns(ROUND_COLUMNS, records, schema, {})


def _columns(
    columns: Iterable[Column],
    records: Sequence[JobRecord] | Sequence[RoundRecord],
    schema: pa.Schema,
    others: Mapping[str, pa.Array],
) -> list[pa.Array]:
    """Return the columns of a schema, read from records or taken from `others`."""
    arrays = {
        column.name: _array(column, list(map(column.get, records)), schema.field(column.name).type)
        for column in columns
    }
    arrays |= others
    return [arrays[name] for name in schema.names]


def _array(column: Column, values: list[Any], kind: pa.DataType) -> pa.Array:
    match column.kind:
        case "whole" if not column.nullable:
            return whole(values)
        case "demand":
            return _number(values, kind)
        case "amounts" | "real_amounts":
            return _amounts(values, kind)
        case "state":
            codes = pa.array(map(STATES.index, values), pa.int8())
            return pa.DictionaryArray.from_arrays(codes, list(STATES))
        case "solver":
            values = [None if call is None else call._asdict() for call in values]
        case "names" | "numbers":
            values = list(map(column.told, values))
    return pa.array(values, kind)


def _number(values: Sequence[int], kind: pa.DataType) -> pa.Array:
    # Only Python turns whole numbers of more than 53 bits into floats.
    return pa.array(map(float, values), kind) if pa.types.is_floating(kind) else _amount(values)


def _amounts(rows: Sequence[tuple[int, ...]], amounts: pa.StructType) -> pa.StructArray:
    columns = [
        _number(column, field.type) for column, field in zip(transposed(rows), amounts, strict=True)
    ]
    return pa.StructArray.from_arrays(columns, fields=list(amounts))


def _amount(values: Sequence[int]) -> pa.Array:
    try:
        return whole(values)
    except OverflowError:
        # A long queue may ask for more bytes than fit; no metric needs to know how many more.
        return whole([min(value, LARGEST) for value in values])
