"""Requests of jobs as sites have them, in all versions of Slurm's JSON.

The recorded pending job of each version is changed; that of Slurm 22.05 stands beside the tests.
"""

from typing import Any

import pytest

from hpcsched.system.cluster import ClusterJob
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.reading_jobs import Terms
from hpcsched_slurm.versions import plain_jobs, plain_nodes
from recorded import MIB, NOW, read, said
from test_versions import LATER, RECORDED, answer

VERSIONS = [38, *RECORDED]


def number(value: int) -> dict[str, object]:
    """Return a number as versions after v0.0.38 write it."""
    return {"set": True, "infinite": False, "number": value}


def waiting(version: int, **changes: Any) -> ClusterJob:
    """Return a waiting job with changes, read from the JSON of a version."""
    if version == 38:
        return read(job_state="PENDING", nodes="", **changes)[1]["1"]
    (job,) = answer(version, "slurm-job-pending")["jobs"]
    for key, value in changes.items():
        as_list = isinstance(job.get(key), list) and not isinstance(value, list)
        new = [value] if as_list else value
        job[key] = number(value) if isinstance(job[key], dict) and "set" in job[key] else new
    nodes = plain_nodes(version, answer(version, "slurm-nodes")["nodes"])
    (found,) = cluster_of(plain_jobs(version, [job]), nodes, Terms("hpcsched", 1000), LATER).jobs
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"het_job_id": 17}, "being part of a heterogeneous job"),
        ({"features": "[rack1*2&rack2*2]"}, "the constraint [rack1*2&rack2*2]"),
        ({"features": "a&b|c"}, "the constraint a&b|c"),
        ({"features": "a*1&b", "node_count": 3}, "the constraint a*1&b"),
        ({"licenses": "matlab:1|comsol:2"}, "the licences matlab:1|comsol:2"),
        ({"licenses": "matlab:1,comsol:2"}, ""),
        ({"resv_name": "school"}, "a reservation"),
        ({"burst_buffer": "x"}, "a burst buffer"),
        ({"contiguous": True}, "contiguous nodes"),
        ({"shared": "user"}, "nodes that it shares by user alone"),
        ({"features": "(a|b)&c"}, ""),
        ({"features": "a*3", "node_count": 3}, ""),
        ({"features": "[a|b]", "node_count": 1, "cpus": 1}, ""),
        ({"features": "[a|b]", "node_count": 3}, ""),
    ],
)
def test_what_is_left_to_slurm(version: int, changes: dict[str, Any], why: str) -> None:
    """A request that cannot be expressed has a reason; all others have none."""
    job = waiting(version, **changes)
    assert job.phase in {"waiting", "blocked"}
    assert job.unknown == why


@pytest.mark.parametrize("version", VERSIONS)
def test_whole_nodes(version: int) -> None:
    """`--exclusive` keeps other jobs off a job's nodes."""
    assert waiting(version, shared="none").exclusive


@pytest.mark.parametrize("version", VERSIONS)
def test_begin_times_and_dependencies(version: int) -> None:
    """Such a job is blocked, with the reason."""
    later = waiting(version, eligible_time=int(2 * LATER))
    assert (later.phase, later.why) == ("blocked", "may not begin yet")
    after = waiting(version, dependency="afterok:5(unfulfilled)")
    assert (after.phase, after.why) == ("blocked", "waits for afterok:5(unfulfilled)")


@pytest.mark.parametrize("features", ["cpu", "(cpu|none)&cpu", "[cpu|none]", "cpu*1"])
def test_features(features: str) -> None:
    """Only nodes with the requested features may be used."""
    assert waiting(38, features=features, node_count=1).allowed == {"c1", "c2", "c3"}


@pytest.mark.parametrize(
    ("features", "units", "allowed"),
    [
        ("[cpu|gpu]", 2, {"c1", "c2", "c3"}),
        ("[gpu|cpu]", 3, {"g1", "g2", "g3"}),
        ("[gpu*2|cpu]", 2, {"g1", "g2", "g3"}),
        ("[none|gpu]", 2, {"g1", "g2", "g3"}),
        ("[cpu|gpu]", 4, {"c1", "c2", "c3"}),  # neither is on enough nodes
        ("cpu*2", 2, {"c1", "c2", "c3"}),
    ],
)
def test_one_feature_for_all_nodes(features: str, units: int, allowed: set[str]) -> None:
    """A job of several nodes gets the first alternative that enough nodes have."""
    job = waiting(38, features=features, node_count=units, cpus=units)
    assert (job.unknown, job.allowed) == ("", allowed)


def two_partitions() -> list[dict[str, Any]]:
    """Return the recorded nodes, c1 to c3 in `small` and g1 and g2 in `gpus`."""
    nodes = said("nodes")
    for node in nodes:
        node["partitions"] = ["small"] if node["name"].startswith("c") else ["gpus"]
    nodes[-1]["partitions"] = ["other"]
    return nodes


@pytest.mark.parametrize(
    ("partition", "units", "allowed"),
    [
        ("small", 1, {"c1", "c2", "c3"}),
        ("gpus,small", 1, {"c1", "c2", "c3", "g1", "g2"}),
        ("gpus,small", 2, {"g1", "g2"}),
        ("gpus,small", 3, {"c1", "c2", "c3"}),
        ("gpus,small", 4, {"g1", "g2"}),  # none has enough
    ],
)
def test_several_partitions(partition: str, units: int, allowed: set[str]) -> None:
    """A job of one node may use the nodes of all, one of several nodes those of one partition."""
    change = {"job_state": "PENDING", "nodes": "", "partition": partition, "node_count": units}
    state = cluster_of([said("jobs")[0] | change], two_partitions(), Terms("x", 1000), NOW)
    (job,) = state.jobs
    assert job.allowed == allowed
    assert job.partition == partition.partition(",")[0]
    assert job.partitions == set(partition.split(","))


def test_suspended_jobs() -> None:
    """They keep memory and devices, and Slurm gives their CPUs to others."""
    jobs = [job | {"job_state": "SUSPENDED"} for job in said("jobs") if job["job_id"] == 5]
    (job,) = cluster_of(jobs, said("nodes"), Terms("hpcsched", 1000), NOW).jobs
    assert job.phase == "running"
    assert job.placed == {"g1": {"core": 0, "mem": 100 * MIB, "gpu": 2}}


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("state", ["SUSPENDED", "COMPLETING"])
def test_jobs_that_are_suspended_or_completing(version: int, state: str) -> None:
    """They hold their nodes, in all versions; a completing one holds its CPUs too."""
    (job,) = answer(version, "slurm-job-running")["jobs"]
    nodes = plain_nodes(version, answer(version, "slurm-nodes")["nodes"])
    terms = Terms("hpcsched", 1000)
    (before,) = cluster_of(plain_jobs(version, [job]), nodes, terms, LATER).jobs
    job["job_state"] = [state] if state == "SUSPENDED" else ["COMPLETED", state]
    (found,) = cluster_of(plain_jobs(version, [job]), nodes, terms, LATER).jobs
    assert found.phase == "running"
    assert found.placed.keys() == before.placed.keys() != set()
    kept = {"core": 0} if state == "SUSPENDED" else {}
    for name, amounts in before.placed.items():
        assert amounts["core"] > 0
        assert found.placed[name] == {**amounts, **kept}


@pytest.mark.parametrize("version", RECORDED)
def test_limits_of_arrays(version: int) -> None:
    """They are a number of their own beside the tasks, in versions after Slurm 22.05."""
    (job,) = answer(version, "slurm-job-pending")["jobs"]
    job |= {
        "array_job_id": number(job["job_id"]), "array_task_id": {**number(0), "set": False},
        "array_task_string": "1-5", "array_max_tasks": number(2), "admin_comment": "hpcsched",
        "priority": number(0),
    }  # fmt: skip
    nodes = plain_nodes(version, answer(version, "slurm-nodes")["nodes"])
    state = cluster_of(plain_jobs(version, [job]), nodes, Terms("hpcsched", 1000), LATER)
    assert [found.held for found in state.jobs] == [True, True, False, False, False]
