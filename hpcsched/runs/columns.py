"""Columns of jobs and rounds, the table behind recorder, schema, audit and reference."""

from collections.abc import Iterable
from operator import attrgetter

import pyarrow as pa

from hpcsched.simulation.records import JobRecord
from hpcsched.system.system import System
from hpcsched.workload.job_columns import (
    BOUNDS,
    JOB_ID,
    NAME,
    REQUESTED_TIME,
    SUBMIT_TIME,
    UNIT_REQUEST,
    UNITS,
    WHOSE,
    Column,
    Kind,
)


def _of_record(
    name: str, kind: Kind, meaning: str, unit: str = "", *, nullable: bool = False
) -> Column:
    return Column(name, kind, unit, attrgetter(name), meaning, nullable)


def _of_job(*columns: Column) -> Iterable[Column]:
    """Yield columns of jobs, read from job records."""
    for column in columns:
        yield column._replace(get=attrgetter(f"job.{column.name}"))


def _of_request(*columns: Column) -> Iterable[Column]:
    """Yield columns of requests, read from job records."""
    for column in columns:
        yield column._replace(get=attrgetter(f"job.request.{column.name}"))


def _run_time(record: JobRecord) -> int | None:
    if record.start_time is None or record.end_time is None:
        return None
    return record.end_time - record.start_time


def _nodes(record: JobRecord) -> tuple[int, ...] | None:
    return None if record.allocation is None else record.allocation.nodes


def _node_units(record: JobRecord) -> tuple[int, ...] | None:
    return None if record.allocation is None else record.allocation.units


JOB_COLUMNS = (
    *_of_job(JOB_ID, SUBMIT_TIME),
    _of_record("start_time", "whole", "start time; none if it was rejected", "s", nullable=True),
    _of_record("end_time", "whole", "end time; none if it was rejected", "s", nullable=True),
    Column(
        "run_time",
        "whole",
        "s",
        _run_time,
        "`end_time - start_time`; none if it was rejected",
        nullable=True,
    ),
    *_of_job(REQUESTED_TIME),
    _of_record(
        "predicted_run_time",
        "whole",
        "predicted run time, at least 1, with which the dispatcher planned",
        "s",
    ),
    *_of_request(UNITS, UNIT_REQUEST),
    _of_record(
        "demand",
        "demand",
        "largest share of the whole system over all resource types, scaled to a whole number by"
        " one factor for all jobs; with one resource type, the requested amount",
    ),
    _of_record(
        "state",
        "state",
        "`completed`; `killed` at its requested time; `rejected`; or `failed`: one of its nodes"
        " [went out of service](outages.md), and it was not run again",
    ),
    _of_record(
        "rejected_by",
        "text",
        "cause of the rejection; none if it was not rejected: the `dispatcher`, or at submission a"
        " rule of [partitions](site.md#partitions) (`no_partition`, `over_partition_time`,"
        " `larger_than_partition`, `over_nodes_per_user`) or the check of [shared"
        " resources](shared-resources.md) (`over_shared_resource`)",
        nullable=True,
    ),
    *_of_job(*WHOSE, NAME),
    *_of_request(*BOUNDS),
    Column(
        "nodes",
        "numbers",
        "",
        _nodes,
        "numbers of its nodes, ascending; none if it was rejected",
        nullable=True,
    ),
    Column(
        "node_units",
        "numbers",
        "units",
        _node_units,
        "number of its units on each of `nodes`",
        nullable=True,
    ),
    _of_record(
        "requeues",
        "whole",
        "number of earlier attempts that were lost with a node; all other columns are of the last"
        " attempt",
        "attempts",
    ),
    _of_record("lost_time", "whole", "sum of the run times of these attempts", "s"),
)
"""Columns of `jobs.parquet`, read from a `JobRecord`."""

ROUND_COLUMNS = (
    _of_record("round", "whole", "number of the round, from 1"),
    _of_record("now", "whole", "simulated instant of the request", "s"),
    _of_record("queued", "whole", "jobs in the queue before the round", "jobs"),
    _of_record("running", "whole", "jobs running before the round", "jobs"),
    _of_record("started", "whole", "jobs that the round started", "jobs"),
    _of_record("rejected", "whole", "jobs that the round rejected", "jobs"),
    _of_record(
        "waiting",
        "whole",
        "jobs in the queue after the round, including those submitted while its decision was"
        " pending",
        "jobs",
    ),
    _of_record(
        "waiting_amounts",
        "amounts",
        "requests of these jobs: a struct with a field for each resource type, at most 2⁶³ − 1",
        "amount",
    ),
    _of_record(
        "free_amounts",
        "amounts",
        "free amounts after the round, over all nodes: a struct with a field for each resource"
        " type",
        "amount",
    ),
    _of_record(
        "latency",
        "whole",
        "[dispatch latency](simulation.md#dispatch-latency): time from `now` until the decision"
        " took effect; 0 unless the scenario charges one",
        "s",
    ),
    _of_record(
        "lost_amounts",
        "real_amounts",
        "free capacity that waiting jobs could have used while the decision was pending: a struct"
        " with a field for each resource type",
        "amount · s",
    ),
    _of_record(
        "decision_time",
        "real",
        "time of the decision; [in compiled code](replays.md#what-runs-in-compiled-code), of the"
        " decision and its starts",
        "real s",
    ),
    _of_record(
        "fallback",
        "flag",
        "true if the dispatcher failed to decide, and a simpler rule decided",
    ),
    _of_record(
        "solver",
        "solver",
        "statistics of the solver; none if none was called. A struct: `status` (below), number of"
        " `jobs` and `variables` of the model, its `objective` and `bound`, `build_time`,"
        " `transform_time` and `solve_time` in real seconds, `why` (the status in words), and,"
        " if the solver counts them, `branches` (decisions) and `fails` (dead ends or conflicts)"
        " of its search",
        nullable=True,
    ),
    _of_record(
        "chosen",
        "text",
        "dispatcher of the portfolio that [hyper](hyper.md) or [cp-portfolio](cp-portfolio.md)"
        " changed to in this round; none without a change, and under any other dispatcher",
        nullable=True,
    ),
    _of_record(
        "because",
        "text",
        "reason for this change, in words; none without a change",
        nullable=True,
    ),
    _of_record(
        "call_again_at",
        "whole",
        "time of the next round that the dispatcher requested, unless an event comes first; none"
        " without a request",
        "s",
        nullable=True,
    ),
)
"""Columns of `rounds.parquet`, read from a `RoundRecord`."""


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
