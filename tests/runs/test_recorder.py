"""Tables of a run from the columns of a replay, by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from hpcsched._core import NEVER
from hpcsched.runs.columns import interruptions_schema, jobs_schema, rounds_schema
from hpcsched.runs.recorder import (
    interruption_table,
    job_table,
    joined_left,
    joined_rounds,
    round_table,
    table_of_jobs,
    table_of_rounds,
    without_rejected,
)
from hpcsched.runs.replaying import replay_in_python
from hpcsched.simulation.records import REFUSALS, LeftJobs, LostAttempts, ReplayedRounds
from hpcsched.system.outages import Outage, Outages
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
from tests.builders import alike, lists, parts, replay, traced

SYSTEM = alike(2, core=4, mem=8)
JOBS = (
    traced(1, 0, 2, 100, (1, 2), requested_time=200, user=7, name="first"),
    traced(2, 3, 1, 50, (2, 0), requested_time=30, exclusive=True),
    traced(3, 4, 9, 10, (1, 2)),
    traced(4, 5, 1, 60, (2, 0), allowed_nodes=frozenset({1, 0})),
)
NO_PARTITION = REFUSALS.index("no_partition")


def columns(jobs: Sequence[TracedJob]) -> JobColumns:
    """Return jobs as columns."""
    (batch,) = columns_of(jobs, RequestNumbers())
    return batch


def left(
    *rows: tuple[int, int, int, bool, int, int, int], places: Sequence[dict[int, int]]
) -> LeftJobs:
    """Return jobs that left, by place among all, times, failure, refusal and attempts before."""
    sequence, start, end, failed, rejected_by, requeues, lost = map(
        np.array, zip(*rows, strict=True)
    )
    return LeftJobs(
        sequence,
        start,
        end,
        np.full(len(rows), 77),
        failed,
        np.zeros(len(rows), dtype=np.bool_),
        np.zeros(len(rows), dtype=np.bool_),
        rejected_by,
        requeues,
        lost,
        end - start,
        end - start,
        np.zeros(len(rows), dtype=np.bool_),
        np.cumsum([len(at) for at in places]),
        np.array([node for at in places for node in at], dtype=np.int64),
        np.array([units for at in places for units in at.values()], dtype=np.int64),
        np.zeros(len(rows), dtype=np.int64),
        np.array([], dtype=np.int64),
    )


FIRST = (0, 10, 110, False, -1, 0, 0)
KILLED = (1, 20, 50, False, -1, 0, 0)
REFUSED = (2, 4, 4, False, NO_PARTITION, 0, 0)
FAILED = (3, 40, 45, True, -1, 2, 33)
PLACES = ({0: 1, 1: 1}, {1: 1}, {}, {0: 1})
ALL = left(FIRST, KILLED, REFUSED, FAILED, places=PLACES)


def test_jobs() -> None:
    """Job 1 completes, job 2 is killed after 30 of its 50 s, job 3 is refused, job 4 fails.

    Of 8 cores and 16 of memory each job has a demand in sixteenths: job 1 asks for 2/8 and 4/16,
    jobs 2 and 4 for 2/8, and job 3 for 9/8 and 18/16.
    """
    table = job_table(SYSTEM, columns(JOBS), ALL)
    assert table.schema == jobs_schema(SYSTEM)
    rows = {row["job_id"]: row for row in table.to_pylist()}
    assert {k: row["state"] for k, row in rows.items()} == {
        1: "completed", 2: "killed", 3: "rejected", 4: "failed",
    }  # fmt: skip
    assert {k: row["run_time"] for k, row in rows.items()} == {1: 100, 2: 30, 3: None, 4: 5}
    assert {k: row["demand"] for k, row in rows.items()} == {1: 4, 2: 4, 3: 18, 4: 4}
    assert {k: row["nodes"] for k, row in rows.items()} == {1: [0, 1], 2: [1], 3: None, 4: [0]}
    assert rows[1]["node_units"] == [1, 1]
    assert (rows[1]["start_time"], rows[1]["end_time"]) == (10, 110)
    assert (rows[1]["user"], rows[1]["name"], rows[2]["user"]) == (7, "first", None)
    assert (rows[1]["unit_request"], rows[2]["unit_request"]) == (
        {"core": 1, "mem": 2},
        {"core": 2, "mem": 0},
    )
    assert (rows[2]["exclusive"], rows[1]["exclusive"]) == (True, False)
    assert (rows[4]["allowed_nodes"], rows[1]["allowed_nodes"]) == ([0, 1], None)
    assert (rows[4]["requeues"], rows[4]["lost_time"]) == (2, 33)
    refused = rows[3]
    assert refused["rejected_by"] == "no_partition"
    assert refused["start_time"] is refused["end_time"] is refused["node_units"] is None
    assert {row["rejected_by"] for k, row in rows.items() if k != 3} == {None}
    assert {row["predicted_run_time"] for row in rows.values()} == {77}


def test_jobs_without_recorded_nodes() -> None:
    """A replay that keeps no places has none in its table; all else is there."""
    nowhere = ALL._replace(
        last_place=np.zeros(4, dtype=np.int64),
        nodes=np.array([], dtype=np.int64),
        node_units=np.array([], dtype=np.int64),
    )
    table = job_table(SYSTEM, columns(JOBS), nowhere)
    assert table["nodes"].to_pylist() == table["node_units"].to_pylist() == [None] * 4
    other = job_table(SYSTEM, columns(JOBS), ALL)
    both = ["nodes", "node_units"]
    assert table.drop_columns(both).equals(other.drop_columns(both))


def test_demands_beyond_64_bits_are_floats() -> None:
    """The product of units and scaled shares is taken in exact numbers before it is rounded."""
    system = alike(1, core=1_000_003, mem=2**38 - 45, disk=2**39 - 7)
    jobs = [traced(1, 0, 3, 10, (5, 6, 7))]
    table = job_table(system, columns(jobs), left((0, 0, 10, False, -1, 0, 0), places=[{0: 3}]))
    # The largest share is that of the cores: 15 of 1,000,003.
    assert system.full_demand > 2**63
    share = 5 * (2**38 - 45) * (2**39 - 7)
    assert table["demand"].to_pylist() == [float(3 * share)]


def test_without_rejected() -> None:
    """Rows of jobs that ran stay with their places; without rejected jobs nothing is copied."""
    ran = without_rejected(ALL)
    assert ran.sequence.tolist() == [0, 1, 3]
    assert ran.last_place.tolist() == [2, 3, 4]
    assert ran.nodes.tolist() == [0, 1, 1, 0]
    assert without_rejected(ran) is ran


def test_joined_parts() -> None:
    """Places of a later part follow those of the parts before it."""
    parts = [
        left(FIRST, KILLED, places=PLACES[:2]),
        left(REFUSED, places=PLACES[2:3]),
        left(FAILED, places=PLACES[3:]),
    ]
    joined = joined_left(parts)
    for found, expected in zip(joined, ALL, strict=True):
        assert found.tolist() == expected.tolist()


def rounds(*numbers: int) -> ReplayedRounds:
    """Return rounds of these numbers; round k is at 10 k, with k cores waiting and 9 - k free."""
    k = np.array(numbers, dtype=np.int64)
    nothing = 0 * k
    return ReplayedRounds(
        k,
        10 * k,
        k + 5,
        k + 1,
        nothing + 2,
        k + 3,
        nothing + 4,
        nothing + NEVER,
        np.stack([k, nothing], axis=1),
        np.stack([9 - k, nothing + 16], axis=1),
        np.stack([3 * k, nothing], axis=1),
        k / 8,
    )


def test_rounds() -> None:
    """Amounts are by resource type; no round of compiled code has a fallback, solver or choice."""
    table = round_table(SYSTEM, joined_rounds([rounds(1, 2), rounds(3)]))
    assert table.schema == rounds_schema(SYSTEM)
    last = table.to_pylist()[-1]
    assert last == {
        "round": 3,
        "now": 30,
        "queued": 8,
        "running": 4,
        "started": 2,
        "rejected": 0,
        "waiting": 6,
        "waiting_amounts": {"core": 3, "mem": 0},
        "free_amounts": {"core": 6, "mem": 16},
        "latency": 4,
        "lost_amounts": {"core": 9.0, "mem": 0.0},
        "decision_time": 0.375,
        "fallback": False,
        "solver": None,
        "chosen": None,
        "call_again_at": None,
        "because": None,
    }
    assert table["round"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("kept", [True, False])
def test_interruptions(kept: bool) -> None:
    """Two attempts of job 4, the second without a further try; places if they were kept."""
    nothing = np.array([], dtype=np.int64)
    lost = LostAttempts(
        np.array([3, 3]),
        np.array([10, 30]),
        np.array([15, 37]),
        np.array([True, False]),
        np.array([False, False]),
        np.array([-1, -1]),
        np.array([5, 7]),
        np.array([5, 7]),
        np.array([1, 2] if kept else [0, 0]),
        np.array([1, 0]) if kept else nothing,
        np.array([1, 1]) if kept else nothing,
        np.array([0, 0]),
        nothing,
    )
    table = interruption_table(SYSTEM, columns(JOBS).take(np.array([3, 3])), lost)
    assert table.schema == interruptions_schema(SYSTEM)
    first, second = table.to_pylist()
    assert first == {
        "job_id": 4,
        "start_time": 10,
        "end_time": 15,
        "requeued": True,
        "suspended": False,
        "preempted_by": None,
        "run_time": 5,
        "lost_time": 5,
        "units": 1,
        "unit_request": [2, 0],
        "nodes": [1] if kept else None,
        "node_units": [1] if kept else None,
    }
    assert (second["end_time"], second["requeued"]) == (37, False)


@pytest.mark.parametrize("request_of_all", [(1, 0), None], ids=["slots", "nodes"])
@pytest.mark.parametrize("requeue", [True, False])
def test_as_of_a_replay(requeue: bool, request_of_all: tuple[int, ...] | None) -> None:
    """Jobs that complete, that are killed, and that lose a node and are tried again or fail."""
    system = alike(3, core=2, gpu=1)
    jobs = [
        traced(n, 3 * n, 1 + n % 3, 10 + n % 7, (1, 0), requested_time=12, user=n % 4, name=f"j{n}")
        for n in range(1, 40)
    ]
    failures = (Outage(15, 25, (0,), "failure"), Outage(90, 95, (1,), "failure"))
    more = {"outages": Outages(failures, requeue), "kill_at_requested_time": True}
    more["uniform_request"] = request_of_all
    records = replay(system, lists(), jobs, **more)
    states = {record.state for record in records.jobs.values()}
    assert states == {"completed", "killed"} | (set() if requeue else {"failed"})
    expected = replay_in_python(parts(system, lists(), **more), jobs, places=True)
    found = table_of_jobs(system, list(records.jobs.values()))
    assert found.to_pylist() == expected[0].to_pylist()
    found = table_of_rounds(system, records.rounds)
    clock = ["decision_time"]
    assert found.drop_columns(clock).equals(expected[1].drop_columns(clock))


def test_no_records() -> None:
    """The tables have their columns."""
    system = alike(1, core=1)
    assert table_of_jobs(system, []).schema == jobs_schema(system)
    assert table_of_rounds(system, []).schema == rounds_schema(system)
    assert len(table_of_jobs(system, [])) == len(table_of_rounds(system, [])) == 0
