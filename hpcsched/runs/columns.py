"""Columns of jobs and rounds, the table behind recorder, schema, audit and reference."""

from collections.abc import Iterable
from operator import attrgetter

from hpcsched.simulation.records import JobRecord
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
