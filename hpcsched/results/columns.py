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
    _of_record(
        "start_time", "whole", "when it started; none if it was rejected", "s", nullable=True
    ),
    _of_record("end_time", "whole", "when it ended; none if it was rejected", "s", nullable=True),
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
        "what the predictor said, and the dispatcher planned with; at least 1",
        "s",
    ),
    *_of_request(UNITS, UNIT_REQUEST),
    _of_record(
        "demand",
        "demand",
        "the job's largest share of the whole system over all resource types, scaled to a whole"
        " number by one factor for all jobs; with one resource type, the amount it asks for",
    ),
    _of_record(
        "state",
        "state",
        "`completed`; `killed` at its requested time; `rejected`; or `failed`, when a node of it"
        " [went out of service](outages.md) and it was not run again",
    ),
    _of_record(
        "rejected_by",
        "text",
        "what rejected it, if it was: the `dispatcher`, or at submission a rule of"
        " [partitions](site.md#partitions): `no_partition`, `over_partition_time`,"
        " `larger_than_partition`, `over_nodes_per_user`; or the check of"
        " [shared resources](shared-resources.md): `over_shared_resource`",
        nullable=True,
    ),
    *_of_job(*WHOSE, NAME),
    *_of_request(*BOUNDS),
    Column(
        "nodes",
        "numbers",
        "",
        _nodes,
        "the numbers of its nodes, ascending; none if it was rejected",
        nullable=True,
    ),
    Column(
        "node_units",
        "numbers",
        "units",
        _node_units,
        "how many of its units are on each of `nodes`",
        nullable=True,
    ),
    _of_record(
        "requeues",
        "whole",
        "how often it was run before and lost a node; all else is about its last attempt",
        "attempts",
    ),
    _of_record("lost_time", "whole", "how long those attempts had run together", "s"),
)
"""Columns of `jobs.parquet`, read from a `JobRecord`."""

ROUND_COLUMNS = (
    _of_record("round", "whole", "the round's number, from 1"),
    _of_record("now", "whole", "the simulated instant at which it was asked for", "s"),
    _of_record("queued", "whole", "jobs in the queue before the round", "jobs"),
    _of_record("running", "whole", "jobs running before the round", "jobs"),
    _of_record("started", "whole", "jobs that the round started", "jobs"),
    _of_record("rejected", "whole", "jobs that the round rejected", "jobs"),
    _of_record(
        "waiting",
        "whole",
        "jobs in the queue after the round, those submitted while its decision was awaited"
        " included",
        "jobs",
    ),
    _of_record(
        "waiting_amounts",
        "amounts",
        "what those jobs ask for: a struct with a field for each resource type, cut at 2⁶³ − 1",
        "amount",
    ),
    _of_record(
        "free_amounts",
        "amounts",
        "what is free after the round, over all nodes: a struct with a field for each resource"
        " type",
        "amount",
    ),
    _of_record(
        "latency",
        "whole",
        "the [dispatch latency](simulation.md#dispatch-latency): how long after `now` the decision"
        " was carried out; 0 unless the scenario charges one",
        "s",
    ),
    _of_record(
        "lost_amounts",
        "real_amounts",
        "what was free although it was waited for, while the decision was awaited: a struct with a"
        " field for each resource type",
        "amount · s",
    ),
    _of_record(
        "decision_time",
        "real",
        "how long the dispatcher took; [in compiled code](replays.md#what-runs-in-compiled-code),"
        " how long it took to decide and to start what is decided. Compiling the code does not"
        " count",
        "real s",
    ),
    _of_record(
        "fallback",
        "flag",
        "whether the dispatcher could not answer as it should, and a simpler rule did",
    ),
    _of_record(
        "solver",
        "solver",
        "how the solver fared; none if none was asked, in a struct: `status` (below), `jobs` and"
        " `variables` of the model, its `objective` and `bound`, `build_time`, `transform_time` and"
        " `solve_time` in real seconds, `why`, more of the status in words, and, where the solver"
        " tells, `branches` and `fails` of its search (decisions, and dead ends or conflicts)",
        nullable=True,
    ),
    _of_record(
        "chosen",
        "text",
        "to which dispatcher of its portfolio [hyper](hyper.md) moved in this round; none where it"
        " stayed with the one before, and under any other dispatcher",
        nullable=True,
    ),
    _of_record(
        "because",
        "text",
        "why it did, in words; none in rounds in which it did not",
        nullable=True,
    ),
    _of_record(
        "call_again_at",
        "whole",
        "when the dispatcher asked for its next round, should nothing happen before; none if it did"
        " not ask",
        "s",
        nullable=True,
    ),
)
"""Columns of `rounds.parquet`, read from a `RoundRecord`."""
