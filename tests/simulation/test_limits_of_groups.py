"""Limits of QOS and accounts under each rule, worked by hand; both loops agree."""

from typing import Any

import pytest

from hpcsched.runs.assembly import parts_of
from hpcsched.simulation.event_loop import EventLoop
from tests.builders import Recorder, alike, traced
from tests.golden.declared import assembled

RULES = (
    "easy",
    "relaxed",
    "conservative",
    "slack",
    "slurm-backfill",
    "order-search",
    "{name: list, option: strict}",
    "{name: list, option: greedy}",
    "{name: list, option: backfill}",
    "{name: list, option: committed-backfill}",
)
every_rule = pytest.mark.parametrize("rule", RULES)


def starts(
    rule: str, more: str, *jobs: Any, nodes: int = 4, dependencies: bool = False
) -> dict[int, int | None]:
    """Return the start of each job on nodes of two cores, the same in both loops."""
    found = []
    for in_python in (False, True):
        recorder = Recorder()
        parts = parts_of(assembled(alike(nodes, core=2), rule, more), [recorder])
        parts = parts._replace(dependencies=dependencies)
        EventLoop(parts, in_python=in_python).replay(jobs)
        found.append(recorder.start_times)
    assert found[0] == found[1]
    return found[0]


@every_rule
def test_cores_of_an_account(rule: str) -> None:
    """Two users of an account with 3 cores: job 2 would be the fourth; job 3 is of another."""
    accounts = (
        "accounts: {lab: {users: {1: 1, 2: 1}, limits: {total: {core: 3}}},"
        " others: {other_users: true}}"
    )
    jobs = (
        traced(1, 0, 2, 10, user=1),
        traced(2, 0, 2, 10, user=2),
        traced(3, 0, 2, 10, user=3),
        traced(4, 0, 1, 5, user=2),
    )
    expected = {1: 0, 2: 10, 3: 0, 4: 0}
    assert starts(rule, accounts, *jobs) == expected


@every_rule
def test_a_limit_of_a_qos_replaces_that_of_an_account(rule: str) -> None:
    """In queue 1 the account's limit of one job does not hold, but its jobs count."""
    more = (
        "qos: {1: {limits: {total: {jobs: 3}}}}\n"
        "accounts: {lab: {users: {1: 1}, other_users: true, limits: {total: {jobs: 1}}}}"
    )
    jobs = (
        traced(1, 0, 1, 10, user=1, queue=1),
        traced(2, 0, 1, 10, user=1, queue=1),
        traced(3, 0, 1, 10, user=1, queue=2),
    )
    assert starts(rule, more, *jobs) == {1: 0, 2: 0, 3: 10}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "order-search"])
def test_time_that_running_jobs_may_still_take(rule: str) -> None:
    """Job 1 may take 10 core minutes, job 2 asks for 5 of 12: after 3 minutes they are left."""
    more = "qos: {1: {limits: {running_minutes: {core: 12}}}}"
    jobs = (traced(1, 0, 1, 600, queue=1), traced(2, 0, 1, 300, queue=1))
    assert starts(rule, more, *jobs) == {1: 0, 2: 180}


def test_time_left_where_decisions_take_time() -> None:
    """Job 1 runs from 1 on, so that 720 s are kept to from 181 on; the decision takes a second.

    The round at 10, for job 3, takes effect at 11.
    """
    more = (
        "qos: {1: {limits: {running_minutes: {core: 12}}}}\n"
        "simulation: {dispatch_latency: {fixed: 1s}}"
    )
    jobs = (
        traced(1, 0, 1, 600, queue=1),
        traced(2, 0, 1, 300, queue=1),
        traced(3, 10, 1, 600, queue=2),
    )
    assert starts("easy", more, *jobs) == {1: 1, 2: 182, 3: 11}


def test_minutes_that_were_used_up() -> None:
    """Of 12 core minutes 4 are used: job 1 asks for 5, and takes 3; job 2 asks for 4, and takes 1.

    Then 4 are left, and job 3, which asks for 5, waits to the end, when it is rejected, and with it
    job 4, which waits for it.
    """
    limits = "{total_minutes: {core: 12}, used_minutes: {core: 4}}"
    more = f"qos: {{1: {{limits: {limits}}}}}"
    first = traced(1, 0, 1, 180, queue=1, requested_time=300)
    second = traced(2, 0, 1, 60, queue=1, requested_time=240)
    late = traced(3, 200, 1, 60, queue=1, requested_time=300)
    last = traced(4, 210, 1, 60, queue=1, requested_time=240, after=(3,))
    found = {1: 0, 2: 180, 3: None, 4: None}
    jobs = first, second, late, last
    assert starts("easy", more, *jobs, dependencies=True) == found
    del found[4]
    assert starts("easy", more, *jobs[:3]) == found


def test_a_factor_of_the_limits_of_accounts() -> None:
    """In queue 1 the account may hold 1.5 times its 2 cores: 3; its limit of 1 job stays."""
    more = (
        "qos: {1: {limit_factor: 1.5}}\n"
        "accounts: {lab: {users: {1: 1}, limits: {total: {core: 2}}}, other: {users: {2: 1},"
        " limits: {total: {jobs: 1}}}}"
    )
    jobs = (
        traced(1, 0, 2, 10, user=1, queue=1),
        traced(2, 0, 1, 10, user=1, queue=1),
        traced(3, 0, 1, 10, user=1, queue=1),
        traced(4, 0, 1, 10, user=2, queue=1),
        traced(5, 0, 1, 10, user=2, queue=1),
    )
    assert starts("easy", more, *jobs) == {1: 0, 2: 0, 3: 10, 4: 0, 5: 10}


@pytest.mark.parametrize(
    "limits",
    [
        "per_job: {core: 2}",
        "per_node: {core: 1}",
        "least: {core: 9}",
        "max_time: 59s",
        "job_minutes: {core: 7}",
        "total: {nodes: 1}",
        "per_account: {core: 3}",
    ],
)
def test_limits_of_single_jobs_refuse_them(limits: str) -> None:
    """Of two jobs of 8 cores for 60 s, that of the queue with the limit is rejected."""
    more = f"qos: {{1: {{limits: {{{limits}}}}}}}"
    jobs = (traced(1, 0, 8, 60, queue=1), traced(2, 0, 8, 60, queue=2))
    assert starts("easy", more, *jobs) == {1: None, 2: 0}


@pytest.mark.parametrize(("over", "second"), [("false", 10), ("true", 0)])
def test_a_partition_comes_before_the_qos(over: str, second: int) -> None:
    """Its limit of one job a user replaces that of the QOS, unless that one comes first."""
    more = (
        f"qos: {{1: {{over_partition: {over}, limits: {{per_user: {{jobs: 2}}}}}}}}\n"
        "partitions: [{name: all, limits: {per_user: {jobs: 1}}}]"
    )
    jobs = (traced(1, 0, 1, 10, user=1, queue=1), traced(2, 0, 1, 10, user=1, queue=1))
    assert starts("easy", more, *jobs) == {1: 0, 2: second}
