"""Tables from records of jobs and rounds are those that a replay writes."""

import pytest

from hpcsched.runs.columns import jobs_schema, rounds_schema
from hpcsched.runs.recorder import table_of_jobs, table_of_rounds
from hpcsched.runs.replaying import replay_in_python
from hpcsched.system.outages import Outage, Outages
from tests.builders import alike, lists, parts, replay, traced


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
    assert found.equals(expected[0])
    found = table_of_rounds(system, records.rounds)
    clock = ["decision_time"]
    assert found.drop_columns(clock).equals(expected[1].drop_columns(clock))


def test_no_records() -> None:
    """The tables have their columns."""
    system = alike(1, core=1)
    assert table_of_jobs(system, []).schema == jobs_schema(system)
    assert table_of_rounds(system, []).schema == rounds_schema(system)
    assert len(table_of_jobs(system, [])) == len(table_of_rounds(system, [])) == 0
