"""Limits of partitions."""

import pwd
from typing import Any

import pytest

from hpcsched_slurm.job_rules import Rules
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.partition_limits import Asker, PartitionLimits, read_partitions
from hpcsched_slurm.reading_jobs import Terms
from hpcsched_slurm.versions import plain_partitions
from recorded import NOW, said
from test_policies import jobs_under, policies

MAIN = {"partitionname": "main", "nodes": "c[1-3]"}
ASKER = Asker(frozenset({"theory"}), "small", 2, 4, 1000, 3600)
"""A job of root; users are looked up on this machine."""


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ({"maxtime": "UNLIMITED", "maxnodes": "UNLIMITED", "state": "UP", "qos": "N/A"}, ""),
        ({"maxtime": "60", "maxnodes": "2", "maxcpuspernode": "4", "maxmempernode": "1000"}, ""),
        ({"maxtime": "00:59:00"}, "partition main: MaxTime=59 minutes"),
        ({"maxnodes": "1"}, "partition main: MaxNodes=1"),
        ({"maxcpuspernode": "3"}, "partition main: MaxCPUsPerNode=3"),
        ({"maxmempernode": "999"}, "partition main: MaxMemPerNode=999M"),
        ({"state": "DOWN"}, "partition main: its state is DOWN"),
        ({"state": "DRAIN"}, ""),
        ({"allowaccounts": "physics,theory"}, ""),
        ({"allowaccounts": "physics"}, "partition main: AllowAccounts"),
        ({"denyaccounts": "theory"}, "partition main: DenyAccounts"),
        ({"allowqos": "normal"}, "partition main: AllowQos"),
        ({"denyqos": "small"}, "partition main: DenyQos"),
        ({"allowaccounts": "theory", "denyaccounts": "theory"}, ""),
        ({"allowqos": "small", "denyqos": "small"}, ""),
        ({"allowgroups": "daemon"}, ""),
    ],
)
def test_refusals(pairs: dict[str, str], why: str) -> None:
    """A job is refused by the limit that it breaks, with its value."""
    found = read_partitions([MAIN | pairs])
    assert found.warnings == ()
    assert found.limits["main"].refusal(ASKER) == why


def test_what_is_left() -> None:
    """Limits that are not kept here, or not understood, are told."""
    odd = {"partitionname": "odd", "maxtime": "soon"}
    found = read_partitions([MAIN | {"maxmempercpu": "4000", "exclusiveuser": "YES"}, odd])
    assert list(found.limits) == ["main"]
    assert found.warnings == (
        "the limit MaxMemPerCPU of partition main is left to Slurm",
        "the limit ExclusiveUser of partition main is left to Slurm",
        "the limits of partition odd are left to Slurm: expected a time limit such as"
        " 1-02:03:04, found 'soon'",
    )


def test_the_oldest_version() -> None:
    """The names of Slurm 22.05 are read, one of which has spaces in it; -1 is no limit."""
    own: dict[str, Any] = {
        "name": "main", "nodes": "c[1-3]", "min nodes per job": 2, "maximum_nodes_per_job": -1,
        "maximum_cpus_per_node": 8, "max_time_limit": 60, "state": "UP",
    }  # fmt: skip
    limits = read_partitions(plain_partitions(38, [own])).limits["main"]
    assert (limits.min_nodes, limits.max_nodes, limits.cpus_per_node) == (2, None, 8)
    assert limits.max_time == 3600


def rules(**pairs: str) -> Rules:
    """Return the rules of a partition `main` with limits."""
    return Rules(read_partitions([MAIN | pairs]))


def test_blocked_jobs() -> None:
    """A job that its partition refuses waits with the reason; another of its partitions may do."""
    main = {"partition": "main", "time_limit": 90}
    (found,) = jobs_under(rules(maxtime="60"), main)
    assert (found.phase, found.held, found.why) == (
        "blocked", False, "partition main: MaxTime=60 minutes",
    )  # fmt: skip
    (found,) = jobs_under(rules(maxtime="60"), {**main, "partition": "main,other"})
    assert found.phase == "waiting"


def test_whole_nodes() -> None:
    """Jobs of a partition with OverSubscribe=EXCLUSIVE share their nodes with none."""
    main = {"partition": "main", "shared": ""}
    assert not jobs_under(rules(), main)[0].exclusive
    assert jobs_under(rules(oversubscribe="EXCLUSIVE"), main)[0].exclusive
    assert jobs_under(rules(exclusive="NODE"), main)[0].exclusive  # Slurm 26.05
    assert rules(exclusive="USER").warnings == (
        "the limit Exclusive=USER of partition main is left to Slurm",
    )


def test_a_minimum_of_nodes() -> None:
    """A job that asks for fewer is left to Slurm, which gives it more."""
    (found,) = jobs_under(rules(minnodes="2"), {"partition": "main"})
    assert found.unknown == "fewer nodes than its partition has as MinNodes, 2"


def test_jobs_that_were_told_to_start() -> None:
    """They hold their nodes, also where a limit has changed."""
    started = {"partition": "main", "required_nodes": "c1", "priority": 5, "cpus": 6}
    (first,) = jobs_under(rules(maxcpuspernode="4"), started)
    assert (first.phase, first.wanted) == ("waiting", ("c1",))


def test_cpus_of_a_node_together() -> None:
    """They are a limit of the cluster's state, by partition."""
    state = cluster_of(
        [], said("nodes"), Terms("hpcsched", 1000), NOW, rules=rules(maxcpuspernode="8")
    )
    assert state.node_limits == {"main": 8}


def allowing(**pairs: str) -> PartitionLimits:
    """Return the limits of a partition."""
    return read_partitions([MAIN | pairs]).limits["main"]


def test_groups() -> None:
    """Slurm looks again at the groups of a user as a job starts, but not at those of root."""
    limits = allowing(allowgroups="games,mail")
    root = pwd.getpwuid(0).pw_name
    assert limits.refusal(ASKER._replace(user="games")) == ""
    assert limits.refusal(ASKER._replace(user=root)) == "partition main: AllowGroups=games,mail"
    assert limits.refusal(ASKER) == ""


def test_groups_that_are_not_known_here() -> None:
    """Jobs of a user, or of a group, that this machine lacks are left to Slurm."""
    (found,) = jobs_under(rules(allowgroups="games"), {"user_id": 99_999, "user_name": "nobody-x"})
    assert found.phase == "waiting"
    assert found.unknown == ("partition main, whose AllowGroups is not known to include nobody-x")
    lacking = allowing(allowgroups="games,no-such-group")
    assert lacking.unclear(ASKER._replace(user="games")) == ""
    assert lacking.unclear(ASKER._replace(user="daemon")).endswith("include daemon")


def test_accounts_below() -> None:
    """In later versions a listed account stands for those below it, which the accounting tells."""
    job = {"account": "theory", "qos": "normal", "tres_req_str": "cpu=2"}
    for allowed, subaccounts, phase in (
        ("physics", True, "waiting"), ("physics", False, "blocked"), ("biology", True, "blocked"),
    ):  # fmt: skip
        known = rules(allowaccounts=allowed)._replace(policies=policies(), subaccounts=subaccounts)
        assert jobs_under(known, job)[0].phase == phase
    denied = rules(denyaccounts="physics")._replace(policies=policies(), subaccounts=True)
    assert jobs_under(denied, job)[0].why == "partition main: DenyAccounts"
    unknown = rules(allowaccounts="physics")._replace(subaccounts=True)
    assert jobs_under(unknown, job)[0].unknown == (
        "partition main, whose AllowAccounts may name an account above the job's"
    )
