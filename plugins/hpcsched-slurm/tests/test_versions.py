"""Answers of all known versions of Slurm give the same form of jobs and nodes.

The recorded answers are those of real clusters, from the test data of Slurm-web (rackslab, MIT
licence); the environment variable HPCSCHED_SLURMRESTD names the folder that has them.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hpcsched import InputError
from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.reading_jobs import Terms
from hpcsched_slurm.versions import check_version, newer_warning, plain_jobs, plain_nodes

RECORDED = {41: "24.05/0.0.41", 42: "24.11/0.0.42", 43: "25.05/0.0.43", 44: "25.11/0.0.44"}
LATER = 4_000_000_000.0
"""Seconds since 1970 when all recorded jobs may have begun."""
MIB = 2**20


def folder(number: int) -> Path:
    """Return the folder with a version's recorded answers, or skip the test."""
    root = os.environ.get("HPCSCHED_SLURMRESTD")
    if not root:
        pytest.skip("HPCSCHED_SLURMRESTD does not name the recorded answers of slurmrestd")
    return Path(root) / RECORDED[number]


def answer(number: int, name: str) -> dict[str, Any]:
    """Return a recorded answer."""
    content: dict[str, Any] = json.loads((folder(number) / f"{name}.json").read_text())
    assert check_version(content, "slurmrestd") == number
    return content


def cluster(number: int, jobs: str = "slurm-jobs") -> ClusterState:
    """Return the cluster of recorded jobs and nodes."""
    found = plain_jobs(number, answer(number, jobs)["jobs"])
    nodes = plain_nodes(number, answer(number, "slurm-nodes")["nodes"])
    return cluster_of(found, nodes, Terms("hpcsched", 1000), LATER)


def job(number: int, name: str) -> ClusterJob:
    """Return the one job of a recorded answer."""
    (found,) = cluster(number, f"slurm-job-{name}").jobs
    return found


@pytest.mark.parametrize("number", RECORDED)
def test_all_answers_are_read(number: int) -> None:
    """Each has jobs, nodes or neither, or is an error that Slurm tells of."""
    counts = {"jobs": 0, "nodes": 0}
    for path in sorted(folder(number).glob("slurm-*.json")):
        content = json.loads(path.read_text())
        if "meta" not in content:
            assert "invalid" in path.name or "expired" in path.name, path
            continue
        counts["jobs"] += len(plain_jobs(number, _slurmctld(content, "jobs")))
        counts["nodes"] += len(plain_nodes(number, content.get("nodes", ())))
    assert min(counts.values()) > 10


def _slurmctld(content: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """Return a list of an answer of slurmctld; those of slurmdbd are of another form."""
    of_database = content["meta"]["plugin"]["type"] == "openapi/slurmdbd"
    return [] if of_database else content.get(what, [])


NODES = {
    41: {"cn001": {"core": 64, "mem": 131072 * MIB}},
    42: {"cn1": {"core": 64, "mem": 131072 * MIB}},
    43: {"cn1": {"core": 64, "mem": 131072 * MIB}},
    44: {"cn1": {"core": 64, "mem": 131072 * MIB}, "gpu1": {"core": 32, "gpu": 4}},
}


@pytest.mark.parametrize("number", RECORDED)
def test_nodes(number: int) -> None:
    """Nodes offer cores, memory and GPUs, whatever a GPU's type is called."""
    nodes = {node.name: node.resources for node in cluster(number).nodes}
    for name, resources in NODES[number].items():
        assert resources.items() <= nodes[name].items()


@pytest.mark.parametrize("number", RECORDED)
def test_states_of_nodes(number: int) -> None:
    """Nodes that are down or drained may not be used; idle, mixed and allocated ones may."""
    usable = {
        name: cluster_of([], plain_nodes(number, answer(number, name)["nodes"]), TERMS, LATER)
        for name in ("slurm-node-idle", "slurm-node-mixed", "slurm-node-allocated")
    }
    assert all(state.nodes[0].usable for state in usable.values())
    for name in ("slurm-node-down", "slurm-node-drain"):
        (node,) = cluster_of(
            [], plain_nodes(number, answer(number, name)["nodes"]), TERMS, LATER
        ).nodes
        assert not node.usable


TERMS = Terms("hpcsched", 1000)

ASKED = [
    ("gpus-running", 1, {41: 4, 42: 6, 43: 4, 44: 4}),  # --gpus=all of a node
    ("gpus-pending", 1, {41: 4, 42: 6, 43: 4, 44: 4}),
    ("gpus-gres", 1, {41: 4, 42: 6, 43: 4, 44: 4}),  # --gres
    ("gpus-multi-nodes", 2, {41: 4, 42: 6, 43: 4, 44: 4}),  # half of them on each of two nodes
    ("gpus-per-node", 2, {41: 1, 42: 1, 43: 1, 44: 1}),
    ("gpus-per-socket", 1, {41: 2, 42: 2, 43: 2, 44: 2}),
    ("gpus-per-task", 1, {41: 4, 42: 4, 43: 4, 44: 4}),  # two for each of two tasks
    ("gpus-type", 1, {41: 1, 42: 1, 43: 1, 44: 1}),
    ("gpus-multi-types", 1, {41: 1, 42: 2, 43: 1, 44: 1}),  # one of each type there is
]


@pytest.mark.parametrize("number", RECORDED)
@pytest.mark.parametrize(("name", "units", "gpus"), ASKED)
def test_gpus(number: int, name: str, units: int, gpus: dict[int, int]) -> None:
    """In all nine ways to ask for GPUs: nodes, and GPUs on each of them."""
    found = job(number, name)
    assert (found.units, found.amounts["gpu"]) == (units, gpus[number])
    if found.phase == "running":
        held = [amounts.get("gpu", 0) for amounts in found.placed.values()]
        assert held == [gpus[number]] * units


@pytest.mark.parametrize("number", RECORDED)
def test_states_of_jobs(number: int) -> None:
    """Jobs wait, run, or have ended in one way or another."""
    assert job(number, "running").phase == "running"
    # Nobody holds it for hpcsched.
    assert job(number, "pending").phase in {"waiting", "blocked"}
    ended = {name: job(number, name) for name in ("completed", "failed", "timeout")}
    assert {name: one.ending for name, one in ended.items()} == {
        "completed": "completed",
        "failed": "completed",
        "timeout": "killed",
    }
    assert ended["timeout"].requested_time == 60


def test_what_older_versions_said_plainly() -> None:
    """Numbers, lists of states and shares of nodes, as version 41 has them, by hand."""
    given = {
        "job_id": 7,
        "time_limit": {"set": True, "infinite": True, "number": 0},
        "cpus": {"set": True, "infinite": False, "number": 4},
        "array_task_id": {"set": False, "infinite": False, "number": 0},
        "job_state": ["COMPLETED", "COMPLETING"],
        "shared": ["none"],
        "tres_per_node": "gres/gpu:1g.5gb:2",
        "tres_per_job": "",
        "tres_per_socket": "",
        "tres_per_task": "cpu=2,gres/gpu=1",
        "job_resources": {
            "nodes": {
                "allocation": [
                    {
                        "name": "n1",
                        "memory": {"allocated": 512},
                        "sockets": [
                            {
                                "index": 0,
                                "cores": [
                                    {"index": 0, "status": ["ALLOCATED", "IN_USE"]},
                                    {"index": 1, "status": ["UNALLOCATED"]},
                                ],
                            }
                        ],
                    }
                ]
            }
        },
    }
    (plain,) = plain_jobs(41, [given])
    cores = {"0": "allocated", "1": "unassigned"}
    assert plain == {
        "job_id": 7,
        "time_limit": None,
        "cpus": 4,
        "array_task_id": None,
        "job_state": "COMPLETING",
        "shared": "none",
        "tres_per_node": "gres/gpu:1g.5gb:2",
        "tres_per_job": "",
        "tres_per_socket": "",
        "tres_per_task": "gres/gpu=1",
        "job_resources": {
            "allocated_nodes": [
                {"nodename": "n1", "memory_allocated": 512, "sockets": {"0": {"cores": cores}}}
            ]
        },
    }


def test_the_oldest_is_left_as_it_is() -> None:
    """Objects of v0.0.38 are plain already; so are those of commands, which say v0.0.37."""
    jobs = [{"job_state": "RUNNING"}]
    assert plain_jobs(38, jobs) == plain_jobs(37, jobs) == jobs


def test_a_field_that_is_missing_is_named() -> None:
    """An unknown newer version is read, unless it lacks what is needed."""
    assert "v0.0.47 of Slurm is not known here; it is read as v0.0.45" in str(newer_warning(47))
    assert newer_warning(45) is None
    with pytest.raises(InputError, match=r"nodes of v0\.0\.47 are not as known: no field active"):
        plain_nodes(47, [{"name": "n1", "state": ["IDLE"]}])


@pytest.mark.parametrize("number", RECORDED)
def test_odd_nodes_and_jobs(number: int) -> None:
    """One of another form does not keep the others from being read, in all versions."""
    nodes: list[Any] = answer(number, "slurm-nodes")["nodes"]
    jobs: list[Any] = answer(number, "slurm-jobs")["jobs"]
    nodes[0] = {"name": nodes[0]["name"], "state": "IDLE"}
    nodes[1] = None
    jobs[0] = {"job_id": jobs[0]["job_id"], "job_state": ["PENDING"], "partition": "p"}
    state = cluster_of(plain_jobs(number, jobs), plain_nodes(number, nodes), TERMS, LATER)
    assert len(state.nodes) == len(nodes)
    assert not state.nodes[0].usable
    assert all(node.resources for node in state.nodes[2:])
    assert len(state.jobs) == len(jobs)
    assert state.jobs[0].unknown.startswith("something that is not understood: no field ")


def test_versions_that_cannot_be_read() -> None:
    """The message says which version the answer is of, and which could be read."""
    plugin = {"type": "openapi/slurmctld", "data_parser": "data_parser/v0.0.40"}
    content = {"meta": {"plugin": plugin}}
    with pytest.raises(InputError, match=r"answers of squeue are of version v0\.0\.40; expected"):
        check_version(content, "squeue")
    with pytest.raises(InputError, match="of version none"):
        check_version({}, "squeue")
