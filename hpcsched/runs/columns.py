"""Columns of the Parquet files of a run: the table behind recorder, schema, audit and reference."""

from collections.abc import Collection, Iterable
from operator import attrgetter

import pyarrow as pa

from hpcsched.system.system import System
from hpcsched.workload.job import (
    BEGIN_DELAY,
    BOUNDS,
    JOB_ID,
    NAME,
    PATIENCE,
    REQUESTED_TIME,
    SUBMIT_TIME,
    UNIT_REQUEST,
    UNITS,
    WHOSE,
    Column,
    Kind,
)


def _of(name: str, kind: Kind, meaning: str, unit: str = "", *, nullable: bool = False) -> Column:
    return Column(name, kind, unit, attrgetter(name), meaning, nullable)


JOB_COLUMNS = (
    JOB_ID, SUBMIT_TIME,
    _of("start_time", "whole", "start time; none if it never started", "s", nullable=True),
    _of("end_time", "whole", "end time; none if it never started", "s", nullable=True),
    _of("run_time", "whole", "`end_time - start_time`, without the time in which it was suspended;"
        " none if it never started", "s", nullable=True),
    REQUESTED_TIME,
    _of("predicted_run_time", "whole", "predicted run time, at least 1, with which the dispatcher"
        " planned", "s"),
    UNITS, UNIT_REQUEST,
    _of("demand", "demand", "largest share of the whole system over all resource types, scaled to"
        " a whole number by one factor for all jobs; with one resource type, the requested amount"),
    _of("state", "state", "`completed`; `killed` at its requested time; `rejected`; `failed`:"
        " one of its nodes [went out of service](outages.md), and it was not run again;"
        " `preempted`: it ended [for another job](preemption.md), and was not run again; or"
        " `withdrawn`: it left [while it waited](traces.md#jobs-that-are-withdrawn)"),
    _of("rejected_by", "text", "cause of the rejection; none if it was not rejected: the"
        " `dispatcher`; a [limit](site.md#limits) that is used up when the replay ends"
        " (`used_up_limit`); or at submission a rule of [partitions](site.md#partitions)"
        " (`no_partition`, `over_partition_time`, `larger_than_partition`, `over_limit`)"
        " or the check of [shared resources](shared-resources.md)"
        " (`over_shared_resource`)", nullable=True),
    *WHOSE, NAME, *BOUNDS,
    _of("nodes", "numbers", "numbers of its nodes, ascending; none if it never started",
        nullable=True),
    _of("node_units", "numbers", "number of its units on each of `nodes`", "units", nullable=True),
    _of("requeues", "whole", "number of earlier attempts that were lost with a node, or by"
        " preemption; all other columns are of the last attempt", "attempts"),
    _of("lost_time", "whole", "sum of the run times of these attempts, without the work that"
        " [checkpoints](preemption.md#checkpoints) saved", "s"),
    BEGIN_DELAY, PATIENCE,
    _of("backfilled", "flag", "true if it started before a job that was ahead of it in the queue;"
        " none if it never started, and in live runs", nullable=True),
)  # fmt: skip
"""Columns of `jobs.parquet`."""

DEVICES = _of("devices", "bits", "devices of each unit, in the order of `nodes`, as bits: 5 for the"
    " first and the third of a node; none if it asks for no devices", nullable=True)  # fmt: skip
"""Column of `jobs.parquet` and `interruptions.parquet` for systems with devices."""

ROUND_COLUMNS = (
    _of("round", "whole", "number of the round, from 1"),
    _of("now", "whole", "simulated instant of the request", "s"),
    _of("queued", "whole", "jobs in the queue before the round", "jobs"),
    _of("running", "whole", "jobs running before the round", "jobs"),
    _of("started", "whole", "jobs that the round started", "jobs"),
    _of("rejected", "whole", "jobs that the round rejected", "jobs"),
    _of("waiting", "whole", "jobs in the queue after the round, including those submitted while"
        " its decision was pending", "jobs"),
    _of("waiting_amounts", "amounts", "requests of these jobs: a struct with a field for each"
        " resource type, at most 2⁶³ − 1", "amount"),
    _of("free_amounts", "amounts", "free amounts after the round, over all nodes: a struct with a"
        " field for each resource type", "amount"),
    _of("latency", "whole", "[dispatch latency](simulation.md#dispatch-latency): time from `now`"
        " until the decision took effect; 0 unless the scenario charges one", "s"),
    _of("lost_amounts", "real_amounts", "free capacity that waiting jobs could have used while the"
        " decision was pending: a struct with a field for each resource type", "amount · s"),
    _of("decision_time", "real", "time of the decision; [in compiled"
        " code](replays.md#what-runs-in-compiled-code), of the decision and its starts", "real s"),
    _of("fallback", "flag", "true if the dispatcher failed to decide, and a simpler rule decided"),
    _of("solver", "solver", "statistics of the solver; none if none was called. A struct: `status`"
        " (below), number of `jobs` and `variables` of the model, its `objective` and `bound`,"
        " `build_time`, `transform_time` and `solve_time` in real seconds, `why` (the status in"
        " words), and, if the solver counts them, `branches` (decisions) and `fails` (dead ends or"
        " conflicts) of its search", nullable=True),
    _of("chosen", "text", "dispatcher of the portfolio that [hyper](hyper.md) changed to in this"
        " round; none without a change, and under any other dispatcher", nullable=True),
    _of("because", "text", "reason for this change, in words; none without a change",
        nullable=True),
    _of("call_again_at", "whole", "time of the next round that the dispatcher requested, unless an"
        " event comes first; none without a request", "s", nullable=True),
)  # fmt: skip
"""Columns of `rounds.parquet`, the fields of a `RoundRecord`."""


_TYPES = {
    "whole": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "flag": pa.bool_(),
    "names": pa.list_(pa.string()),
    "numbers": pa.list_(pa.int32()),
    "bits": pa.list_(pa.int64()),
    "state": pa.dictionary(pa.int8(), pa.string()),
}
"""Arrow types by kind of column, where they do not depend on the system."""


def _fixed(nullable: Collection[str] = (), **columns: str | pa.DataType) -> pa.Schema:
    """Return a schema of columns by kind or type; only those in `nullable` may have no value."""
    return pa.schema(
        [
            pa.field(
                name, _TYPES[kind] if isinstance(kind, str) else kind, nullable=name in nullable
            )
            for name, kind in columns.items()
        ]
    )


SOLVER = pa.struct(
    _fixed(
        ("objective", "bound", "branches", "fails"),
        status="text",
        jobs="whole",
        variables="whole",
        objective="real",
        bound="real",
        build_time="real",
        transform_time="real",
        solve_time="real",
        why="text",
        branches="whole",
        fails="whole",
    )
)
"""Fields of `SolverCall`."""


def jobs_schema(system: System) -> pa.Schema:
    """Return the columns of `jobs.parquet`: a row for each job that has left the system.

    Names are the glossary's, times are in seconds; `run_time` is what the job ran in the
    simulation. Rejected and withdrawn jobs have no start, end, run time or places; `rejected_by` is
    of the former alone
    (see `RejectedBy`). `nodes` are node numbers, `node_units` the job's units on each. Start, end
    and places are those of the last attempt; `requeues` attempts before it were lost to outages or
    preemption, which had run for `lost_time` together. `demand` is a whole number (see
    `System.demand`), or a float where that of the whole system needs more than 63 bits.
    """
    return _schema((*JOB_COLUMNS, *_device_columns(system)), system)


def _device_columns(system: System) -> tuple[Column, ...]:
    return () if system.devices is None else (DEVICES,)


def outages_schema() -> pa.Schema:
    """Return the columns of `outages.parquet`: a row for each outage, by its start.

    `nodes` are out of service from `start_time` to `end_time`, in seconds; `kind` is an
    `OutageKind`, and `name` the user's.
    """
    return _fixed(start_time="whole", end_time="whole", kind="text", name="text", nodes="numbers")


def shared_resources_schema(system: System) -> pa.Schema:
    """Return the columns of `shared_resources.parquet`: a row for each change of an amount.

    From second `time` on, `drawn` is the amount that jobs draw from each shared resource and
    `offered` the amount that it offers, in the shared resource's own unit.
    """
    names = [resource.name for resource in system.shared_resources]
    amounts = pa.struct([pa.field(name, pa.int64(), nullable=False) for name in names])
    return _fixed(time="whole", drawn=amounts, offered=amounts)


def interruptions_schema(system: System) -> pa.Schema:
    """Return the columns of `interruptions.parquet`: a row for each attempt that was lost.

    A job ran from `start_time` to `end_time`, in seconds, and then lost a node, or was preempted by
    the job `preempted_by`; it was `requeued`, or left as failed or preempted. A row with
    `suspended` is no attempt: the job was suspended in that time. An attempt ran for `run_time`, of
    which checkpoints did not save `lost_time`. `unit_request` is in the order of the system's
    resource types.
    """
    return _fixed(
        ("preempted_by", "nodes", "node_units", "devices"),
        job_id="whole",
        start_time="whole",
        end_time="whole",
        requeued="flag",
        suspended="flag",
        preempted_by="whole",
        run_time="whole",
        lost_time="whole",
        units="whole",
        unit_request=pa.list_(pa.int64()),
        nodes="numbers",
        node_units="numbers",
        **{column.name: column.kind for column in _device_columns(system)},
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
    return _fixed(
        ("kind", "job", "time"),
        round="whole",
        now="whole",
        job_id="whole",
        kind="text",
        job="whole",
        time="whole",
        detail="text",
    )


def usage_schema() -> pa.Schema:
    """Return the columns of `usage.parquet`: a row for each dispatching round.

    `now` is in simulated seconds, times are CPU seconds of the process since the round before, and
    `memory` is in bytes.
    """
    return _fixed(
        ("memory",),
        round="whole",
        now="whole",
        queued="whole",
        loading_time="real",
        dispatching_time="real",
        other_time="real",
        memory="whole",
    )


def amounts_type(system: System, number: pa.DataType | None = None) -> pa.StructType:
    """Return the struct type of amounts: a field for each resource type, int64 by default."""
    kind = pa.int64() if number is None else number
    return pa.struct([pa.field(name, kind, nullable=False) for name in system.resource_types])


def _schema(columns: Iterable[Column], system: System) -> pa.Schema:
    amounts, real_amounts = amounts_type(system), amounts_type(system, pa.float64())
    of_system = {
        "solver": SOLVER,
        "amounts": amounts,
        "real_amounts": real_amounts,
        "demand": pa.int64() if system.full_demand < 2**63 else pa.float64(),
    }
    types = _TYPES | of_system
    return pa.schema([pa.field(c.name, types[c.kind], nullable=c.nullable) for c in columns])
