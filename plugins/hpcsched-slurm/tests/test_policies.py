"""Limits of QOS and associations: as recorded, and which of them a job must keep to.

`policies.json` has answers of slurmdbd of Slurm 22.05.8; `SACCTMGR_QOS` and
`SACCTMGR_ASSOCIATIONS` are what `sacctmgr` printed of the same accounting.
"""

import json
from typing import Any

import pytest

from hpcsched.system.cluster import ClusterJob, ClusterLimit
from hpcsched.system.limits import Association, Holder, LimitSet, Qos
from hpcsched.system.policies import Policies
from hpcsched_slurm.job_rules import Rules
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.partition_limits import PartitionLimits, Partitions
from hpcsched_slurm.policy_reading import (
    ASSOCIATION_FIELDS,
    QOS_FIELDS,
    read_associations,
    read_qos,
    records_of_json,
    records_of_text,
)
from hpcsched_slurm.reading_jobs import Terms
from recorded import FOLDER, NOW, said
from test_versions import RECORDED, answer

SACCTMGR_QOS = """\
normal||||||||||||||||
small|||7|gres/gpu=4,node=3|2|cpu=8,mem=10G|5|cpu=10|cpu=6|cpu=5|cpu=2|01:00:00||cpu=1000||
part|OverPartQOS|||cpu=20||||||||||||
"""
SACCTMGR_ASSOCIATIONS = """\
test|root|||||||||||||
test|root|root||||||||||||
test|physics|||root||||||||||
test|theory|||physics||cpu=24|4|||||||
test|theory|nobody|||||4|||||||
test|theory|root|||||4|node=2||||||
"""
ROOT = Holder("test", "theory", "root", "main", "small", "")


def recorded() -> dict[str, Any]:
    """Return the recorded answers."""
    answers: dict[str, Any] = json.loads((FOLDER / "policies.json").read_text())
    return answers


def policies() -> Policies:
    """Return the recorded policies."""
    answers = recorded()
    qos, _ = read_qos(records_of_json(answers["QOS"], QOS_FIELDS))
    own, _ = read_associations(records_of_json(answers["associations"], ASSOCIATION_FIELDS))
    return Policies(qos, own)


def test_one_reading() -> None:
    """Slurmdbd and sacctmgr tell the same of QOS and associations."""
    answers = recorded()
    (normal, small, part), told = read_qos(records_of_text(SACCTMGR_QOS, QOS_FIELDS))
    assert told == []
    # slurmrestd of Slurm 22.05 leaves GrpTRESMins out.
    by_rest, _ = read_qos(records_of_json(answers["QOS"], QOS_FIELDS))
    assert by_rest == [normal, small._replace(limits=small.limits._replace(left=())), part]
    assert part.over_partition
    assert small.limits == LimitSet(
        group={"gres/gpu": 4, "node": 3, "jobs": 7},
        user={"cpu": 8, "mem": 10240, "jobs": 2},
        account={"cpu": 10, "jobs": 5},
        job={"cpu": 6},
        node={"cpu": 5},
        least={"cpu": 2},
        wall=3600,
        left=("GrpTRESMins",),
    )
    own, _ = read_associations(records_of_text(SACCTMGR_ASSOCIATIONS, ASSOCIATION_FIELDS))
    same, _ = read_associations(records_of_json(answers["associations"], ASSOCIATION_FIELDS))
    assert sorted(own) == sorted(same)


def test_limits_of_a_later_version() -> None:
    """Numbers of v0.0.43 are objects; the QOS is of recorded answers of Slurm 25.05."""

    def number(value: int | None) -> dict[str, Any]:
        return {"set": value is not None, "infinite": value is None, "number": value or 0}

    maximum = {
        "active_jobs": {"count": number(60)},
        "tres": {
            "total": [{"type": "node", "name": "", "id": 4, "count": 50}],
            "per": {"user": [{"type": "mem", "name": "", "id": 2, "count": 65536}], "job": []},
        },
        "jobs": {"active_jobs": {"per": {"account": number(None), "user": number(10)}}},
        "wall_clock": {"per": {"job": number(480), "qos": number(None)}},
    }
    study = {"name": "study", "flags": [], "limits": {"factor": number(None), "max": maximum}}
    ((found,), _) = read_qos(records_of_json([study], QOS_FIELDS))
    assert found == Qos(
        "study",
        LimitSet({"node": 50, "jobs": 60}, {"mem": 65536, "jobs": 10}, wall=8 * 3600),
    )


@pytest.mark.parametrize("version", RECORDED)
def test_recorded_qos(version: int) -> None:
    """All recorded QOS are read; `critical` and `study` have limits."""
    found, told = read_qos(records_of_json(answer(version, "slurm-qos")["qos"], QOS_FIELDS))
    assert told == []
    by_name = {one.name: one.limits for one in found}
    assert by_name.pop("normal") == LimitSet()
    limited = {
        "critical": LimitSet(
            group={"jobs": 300}, user={"jobs": 10}, wall=2 * 86_400,
        ),
        "study": LimitSet(
            group={"node": 50, "jobs": 60},
            user={"cpu": 128, "mem": 65536, "jobs": 10},
            account={"cpu": 196, "mem": 131072},
            job={"cpu": 128},
            wall=8 * 3600,
        ),
    }  # fmt: skip
    assert by_name == {name: limited[name] for name in by_name}


def test_limits_of_a_job() -> None:
    """Groups are the QOS, its users and accounts, and the accounts above the user's."""
    found = policies().of(ROOT)
    who = "QOS small"
    assert found.groups == (
        who,
        "account theory in QOS small",
        "user root in QOS small",
        "user root in account theory",
        "account theory",
        "account physics",
        "account root",
    )
    assert ClusterLimit(who, "gres/gpu", 4, "QOS small: GrpTRES gres/gpu=4") in found.limits
    assert {limit.name for limit in found.limits} == {
        "QOS small: GrpTRES gres/gpu=4",
        "QOS small: GrpTRES node=3",
        "QOS small: GrpJobs=7",
        "QOS small: MaxTRESPerUser cpu=8",
        "QOS small: MaxTRESPerUser mem=10240",
        "QOS small: MaxJobsPerUser=2",
        "QOS small: MaxTRESPerAccount cpu=10",
        "QOS small: MaxJobsPerAccount=5",
        # Not the association's MaxJobs, which the QOS replaces.
        "account theory: GrpTRES cpu=24",
    }
    without = policies().of(ROOT._replace(qos="normal"))
    assert {limit.name for limit in without.limits} == {
        "user root in account theory: MaxJobs=4",
        "account theory: GrpTRES cpu=24",
    }


@pytest.mark.parametrize(
    ("usage", "units", "seconds", "why"),
    [
        ({"cpu": 4}, 1, 3600, ""),
        ({"cpu": 7}, 2, 3600, "QOS small: MaxTRESPerJob cpu=6, and it asks for 7"),
        ({"cpu": 6}, 1, 3600, "QOS small: MaxTRESPerNode cpu=5, and it asks for 6 on 1"),
        ({"cpu": 6}, 2, 3600, ""),
        ({"cpu": 1}, 1, 3600, "QOS small: MinTRES cpu=2, and it asks for 1"),
        ({"cpu": 4}, 1, 3660, "QOS small: MaxWall=60 minutes, and it asks for 61 minutes"),
        (
            {"cpu": 4, "node": 3},
            3,
            60,
            "user root in account theory: MaxTRESPerJob node=2, and it asks for 3",
        ),
    ],
)
def test_limits_of_a_single_job(usage: dict[str, int], units: int, seconds: int, why: str) -> None:
    """A job that breaks one by itself can never start."""
    assert policies().of(ROOT).refusal(usage, units, seconds) == why


def test_which_qos_comes_first() -> None:
    """The partition's QOS replaces what it sets of the job's; with OverPartQOS it is replaced."""
    small = Qos("small", LimitSet({"cpu": 8}, {"jobs": 2}))
    part = Qos("part", LimitSet({"cpu": 20}))
    above = Policies([small, part]).of(ROOT._replace(partition_qos="part"))
    assert [limit.name for limit in above.limits] == [
        # Numbers of jobs come first, as a real Slurm tells the reason of a job.
        "QOS small: MaxJobsPerUser=2",
        "QOS part: GrpTRES cpu=20",
    ]
    # A job counts in both.
    assert {"QOS small", "QOS part"} <= set(above.groups)
    over = Policies([small._replace(over_partition=True), part])
    assert [limit.name for limit in over.of(ROOT._replace(partition_qos="part")).limits] == [
        "QOS small: MaxJobsPerUser=2",
        "QOS small: GrpTRES cpu=8",
    ]


def test_factor_of_a_qos() -> None:
    """LimitFactor multiplies the associations' limits on resources, not those on jobs."""
    account = Association("test", "theory", "", "", "", LimitSet({"cpu": 24, "jobs": 3}))
    found = Policies([Qos("small", LimitSet(), factor=0.5)], [account]).of(ROOT)
    assert {limit.counted: limit.most for limit in found.limits} == {"cpu": 12, "jobs": 3}


def test_limits_that_are_left() -> None:
    """They are told once for each kind, with the first that have them."""
    left = LimitSet(left=("GrpWall",))
    accounts = [Association("test", name, "", "", "", left) for name in "abcde"]
    found = Policies([Qos("small", LimitSet(left=("GrpTRESMins",)))], accounts)
    assert found.warnings == (
        "the limit GrpTRESMins of QOS small is left to Slurm",
        "the limit GrpWall of account a, account b, account c and 2 others is left to Slurm",
    )


def test_what_is_not_understood() -> None:
    """A QOS with an odd number is left to Slurm; so are amounts that are not of nodes."""
    rows = SACCTMGR_QOS.replace("cpu=20", "billing=20").replace("|7|", "|seven|")
    found, told = read_qos(records_of_text(rows, QOS_FIELDS))
    assert [one.name for one in found] == ["normal", "part"]
    assert found[1].limits.left == ("GrpTRES billing",)
    assert told == [
        "the QOS small is not understood, and left to Slurm: invalid literal for int() with base"
        " 10: 'seven'"
    ]
    relative, _ = read_qos(records_of_text("half|Relative|||cpu=50||||||||||||\n", QOS_FIELDS))
    assert relative[0].limits == LimitSet(left=("Flags=Relative",))


def jobs_under(rules: Rules, *changes: dict[str, Any]) -> list[ClusterJob]:
    """Return pending jobs with changes, read under some rules."""
    common = {
        "job_state": "PENDING", "nodes": "", "account": "theory", "user_name": "root",
        "cluster": "test", "qos": "small", "tres_req_str": "cpu=2,mem=1000M,node=1,billing=2",
        "cpus": 2, "node_count": 1, "memory_per_node": 1000, "time_limit": 10, "licenses": "",
        "required_nodes": "",
    }  # fmt: skip
    jobs = [
        {**said("jobs")[0], **common, "job_id": 100 + k, **change}
        for k, change in enumerate(changes)
    ]
    state = cluster_of(jobs, said("nodes"), Terms("hpcsched", 1000), NOW, rules=rules)
    return list(state.jobs)


def test_jobs_with_limits() -> None:
    """A waiting job counts as it asks, a running one as Slurm says, one that ends not at all."""
    rules = Rules(policies=policies())
    running = {"job_state": "RUNNING", "nodes": "c1", "tres_alloc_str": "cpu=4,mem=2G,node=1"}
    waits, runs, ends, large, whole = jobs_under(
        rules,
        {"licenses": "matlab:2"},
        running,
        {**running, "job_state": "COMPLETING"},
        {"tres_req_str": "cpu=8,mem=1000M,node=1", "cpus": 8},
        {"shared": "none", "features": "cpu"},
    )
    assert waits.usage == {
        "cpu": 2, "mem": 1000, "node": 1, "billing": 2, "jobs": 1, "license/matlab": 2,
    }  # fmt: skip
    assert waits.shared == {"license_matlab": 2}
    assert (len(waits.groups), len(waits.limits)) == (7, 9)
    assert (runs.usage["cpu"], runs.usage["mem"], runs.limits) == (4, 2048, ())
    assert runs.groups == waits.groups
    assert (ends.groups, ends.usage, ends.shared) == ((), {}, {})
    assert (large.phase, large.why) == (
        "blocked",
        "QOS small: MaxTRESPerJob cpu=6, and it asks for 8",
    )
    # One that was told to start holds its nodes, whatever the limits are.
    told = {"tres_req_str": "cpu=8", "cpus": 8, "required_nodes": "c1", "priority": 5}
    assert jobs_under(rules, told)[0].phase == "waiting"
    # A job of whole nodes counts with all 16 CPUs of its node.
    assert whole.why == "QOS small: MaxTRESPerJob cpu=6, and it asks for 16"


def test_a_job_without_memory() -> None:
    """It counts with all memory of its node, and with its own CPUs."""
    (found,) = jobs_under(Rules(policies=policies()), {"memory_per_node": 0, "features": "cpu"})
    assert found.exclusive
    assert (found.usage["cpu"], found.usage["mem"]) == (2, 64000)


def test_without_policies() -> None:
    """Where Slurm enforces no limits, jobs have none."""
    (found,) = jobs_under(Rules(), {"tres_req_str": "cpu=8"})
    assert (found.phase, found.limits, found.usage) == ("waiting", (), {})


def test_qos_of_a_partition() -> None:
    """It is the partition's that comes first."""
    limits = {"main": PartitionLimits("main", qos="part")}
    rules = Rules(Partitions(limits), policies())
    (found,) = jobs_under(rules, {"qos": "normal", "partition": "main"})
    assert "QOS part: GrpTRES cpu=20" in {limit.name for limit in found.limits}
