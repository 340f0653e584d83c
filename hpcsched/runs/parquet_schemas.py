"""Arrow schemas of the Parquet files of a run."""

from collections.abc import Iterable

import pyarrow as pa

from hpcsched.runs.columns import JOB_COLUMNS, ROUND_COLUMNS
from hpcsched.system.system import System
from hpcsched.workload.job_columns import Column

SOLVER = pa.struct(
    [
        pa.field("status", pa.string(), nullable=False),
        pa.field("jobs", pa.int64(), nullable=False),
        pa.field("variables", pa.int64(), nullable=False),
        ("objective", pa.float64()),
        ("bound", pa.float64()),
        *(
            pa.field(f"{step}_time", pa.float64(), nullable=False)
            for step in ("build", "transform", "solve")
        ),
        pa.field("why", pa.string(), nullable=False),
        ("branches", pa.int64()),
        ("fails", pa.int64()),
    ]
)
"""Fields of `SolverCall`."""

_TYPES = {
    "whole": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "flag": pa.bool_(),
    "names": pa.list_(pa.string()),
    "numbers": pa.list_(pa.int32()),
    "state": pa.dictionary(pa.int8(), pa.string()),
    "solver": SOLVER,
}
"""Arrow types by kind of column, where they do not depend on the system."""


def jobs_schema(system: System) -> pa.Schema:
    """Return the columns of `jobs.parquet`: a row for each job that has left the system.

    Names are the glossary's, times are in seconds; `run_time` is what the job ran in the
    simulation. Rejected jobs have no start, end, run time or places; `rejected_by` is theirs alone
    (see `RejectedBy`). `nodes` are node numbers, `node_units` the job's units on each. Start, end
    and places are those of the last attempt; `requeues` attempts before it were lost to outages,
    which had run for `lost_time` together. `demand` is a whole number (see `System.demand`), or a
    float where that of the whole system needs more than 63 bits.
    """
    return _schema(JOB_COLUMNS, system)


def outages_schema() -> pa.Schema:
    """Return the columns of `outages.parquet`: a row for each outage, by its start.

    `nodes` are out of service from `start_time` to `end_time`, in seconds; `kind` is an
    `OutageKind`, and `name` the user's.
    """
    return pa.schema(
        [
            pa.field("start_time", pa.int64(), nullable=False),
            pa.field("end_time", pa.int64(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),
            pa.field("name", pa.string(), nullable=False),
            pa.field("nodes", pa.list_(pa.int32()), nullable=False),
        ]
    )


def shared_resources_schema(system: System) -> pa.Schema:
    """Return the columns of `shared_resources.parquet`: a row for each change of an amount.

    From second `time` on, `drawn` is the amount that jobs draw from each shared resource and
    `offered` the amount that it offers, in the shared resource's own unit.
    """
    names = [resource.name for resource in system.shared_resources]
    amounts = pa.struct([pa.field(name, pa.int64(), nullable=False) for name in names])
    return pa.schema(
        [
            pa.field("time", pa.int64(), nullable=False),
            pa.field("drawn", amounts, nullable=False),
            pa.field("offered", amounts, nullable=False),
        ]
    )


def interruptions_schema() -> pa.Schema:
    """Return the columns of `interruptions.parquet`: a row for each attempt that was lost.

    A job ran from `start_time` to `end_time`, in seconds, and then lost a node; it was `requeued`,
    or left as failed. `unit_request` is in the order of the system's resource types.
    """
    whole = pa.int64()
    return pa.schema(
        [
            pa.field("job_id", whole, nullable=False),
            pa.field("start_time", whole, nullable=False),
            pa.field("end_time", whole, nullable=False),
            pa.field("requeued", pa.bool_(), nullable=False),
            pa.field("units", whole, nullable=False),
            pa.field("unit_request", pa.list_(whole), nullable=False),
            ("nodes", pa.list_(pa.int32())),
            ("node_units", pa.list_(pa.int32())),
        ]
    )


def rounds_schema(system: System) -> pa.Schema:
    """Return the columns of `rounds.parquet`: a row for each dispatching round.

    They are the fields of `RoundRecord`; `now` and `latency` are in simulated seconds,
    `decision_time` in real ones. Amounts above 2⁶³ − 1 are cut to it; `lost_amounts` are rounded to
    53 bits. `solver` is null where no solver was asked.
    """
    return _schema(ROUND_COLUMNS, system)


def reasons_schema() -> pa.Schema:
    """Return the columns of `reasons.parquet`: a row where the reason of a queued job changes.

    `now` and `time` are in simulated seconds. `kind` is null from where on no reason is given.
    """
    return pa.schema(
        [
            *(pa.field(name, pa.int64(), nullable=False) for name in ("round", "now", "job_id")),
            ("kind", pa.string()),
            ("job", pa.int64()),
            ("time", pa.int64()),
            pa.field("detail", pa.string(), nullable=False),
        ]
    )


def usage_schema() -> pa.Schema:
    """Return the columns of `usage.parquet`: a row for each dispatching round.

    `now` is in simulated seconds, times are CPU seconds of the process since the round before, and
    `memory` is in bytes.
    """
    return pa.schema(
        [
            *(pa.field(name, pa.int64(), nullable=False) for name in ("round", "now", "queued")),
            *(
                pa.field(f"{part}_time", pa.float64(), nullable=False)
                for part in ("loading", "dispatching", "other")
            ),
            ("memory", pa.int64()),
        ]
    )


def amounts_type(system: System, number: pa.DataType | None = None) -> pa.StructType:
    """Return the struct type of amounts: a field for each resource type, int64 by default."""
    kind = pa.int64() if number is None else number
    return pa.struct([pa.field(name, kind, nullable=False) for name in system.resource_types])


def _schema(columns: Iterable[Column], system: System) -> pa.Schema:
    amounts, real_amounts = amounts_type(system), amounts_type(system, pa.float64())
    of_system = {
        "amounts": amounts,
        "real_amounts": real_amounts,
        "demand": pa.int64() if system.full_demand < 2**63 else pa.float64(),
    }
    types = _TYPES | of_system
    return pa.schema([pa.field(c.name, types[c.kind], nullable=c.nullable) for c in columns])
