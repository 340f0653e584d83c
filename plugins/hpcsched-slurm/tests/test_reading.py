"""What Slurm says becomes a cluster."""

import json

import pytest

from hpcsched.system.cluster import checked_state
from hpcsched_slurm.arrays import first_array_number, task_ranges
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.reading_jobs import Terms
from hpcsched_slurm.versions import plain_jobs, plain_nodes
from recorded import FOLDER, MIB, NOW, read, said


def test_nodes() -> None:
    """Nodes offer cores, memory and GPUs."""
    state, _ = read()
    by_name = {node.name: node for node in state.nodes}
    assert by_name["c1"].resources == {"core": 16, "mem": 64000 * MIB}
    assert by_name["g3"].resources == {"core": 8, "mem": 128000 * MIB, "gpu": 4}
    assert all(node.usable for node in state.nodes)


@pytest.mark.parametrize(
    ("state", "flags"),
    [
        ("down", []),
        ("idle", ["DRAIN"]),
        ("mixed", ["NOT_RESPONDING"]),
        ("idle", ["FAIL"]),
        ("idle", ["BLOCKED"]),
    ],
)
def test_nodes_that_may_not_be_used(state: str, flags: list[str]) -> None:
    """Nodes that are down, drained or silent are said to be, with the reason."""
    nodes = said("nodes")
    nodes[0] |= {"state": state, "state_flags": flags, "reason": "broken fan"}
    found = cluster_of([], nodes, Terms("hpcsched", 1000), NOW).nodes[0]
    assert not found.usable
    assert "broken fan" in found.why


def test_what_is_kept_back_on_a_node() -> None:
    """CPUs and memory that Slurm keeps for the system are not for jobs."""
    nodes = said("nodes")
    nodes[0] |= {"effective_cpus": 14, "specialized_memory": 4000}
    state = cluster_of([], nodes, Terms("hpcsched", 1000), NOW)
    assert state.nodes[0].resources == {"core": 14, "mem": 60000 * MIB}


def test_what_waits() -> None:
    """Jobs that the hook holds may be placed; the others wait for something else."""
    _, jobs = read()
    assert {key for key, job in jobs.items() if job.held} == {"2", "4", "6", "7_3", "8"}
    assert jobs["9"].phase == "blocked"
    assert jobs["2"].amounts == {"core": 4, "mem": 200 * MIB}
    assert jobs["4"].amounts["gpu"] == 2
    assert jobs["4"].allowed == {"g1", "g2", "g3"}
    assert jobs["6"].exclusive
    assert jobs["2"].allowed is None
    assert jobs["4"].requested_time == 120


def test_what_runs() -> None:
    """Jobs that run hold what Slurm gave them, on each node by itself."""
    _, jobs = read()
    assert jobs["10"].partition == "other"
    cores = {name: amounts["core"] for name, amounts in jobs["10"].placed.items()}
    assert cores == {"c1": 14, "c2": 4, "c3": 1, "g1": 1}
    assert jobs["3"].placed["g3"]["gpu"] == 1
    assert jobs["3"].one_unit_per_node
    assert jobs["5"].placed == {"g1": {"core": 1, "mem": 100 * MIB, "gpu": 2}}


def test_arrays() -> None:
    """A task is called by its array and place, with the same number while it waits and after."""
    _, jobs = read()
    assert jobs["7_1"].phase == "running"
    numbers = [jobs[f"7_{task}"].job_id for task in (1, 2, 3)]
    assert numbers == [first_array_number(7) + task for task in (1, 2, 3)]
    assert task_ranges("1-7:3,9%2") == ([1, 4, 7, 9], 2)
    assert task_ranges("1-3,5,...") == ([1, 2, 3, 5], None)
    with pytest.raises(ValueError, match="expected tasks"):
        task_ranges("one")


def test_limits_of_arrays() -> None:
    """No more tasks wait for hpcsched than the array lets run."""
    jobs = said("jobs")
    array = next(job for job in jobs if job["array_task_string"] or job["job_id"] == 7)
    array |= {"job_id": 20, "array_job_id": 20, "array_task_id": None, "array_task_string": "1-5%2"}
    state = cluster_of([array], said("nodes"), Terms("hpcsched", 1000), NOW)
    assert [job.held for job in state.jobs] == [True, True, False, False, False]


def test_limits_of_arrays_whose_tasks_are_apart() -> None:
    """Released tasks count before the held ones, also when no tasks wait together any more."""
    (first, second, third), terms = (
        [dict(said("jobs")[0]) for _ in range(3)],
        Terms("hpcsched", 1000),
    )
    array = {"array_job_id": 20, "array_task_string": "", "array_max_tasks": 2}
    held = {"job_state": "PENDING", "priority": 0, "admin_comment": "hpcsched", "nodes": ""}
    first |= array | held | {"job_id": 20, "array_task_id": 3}
    second |= (
        array | held | {"job_id": 21, "array_task_id": 1, "job_state": "RUNNING", "nodes": "c1"}
    )
    third |= (
        array | held | {"job_id": 22, "array_task_id": 2, "priority": 9, "required_nodes": "c2"}
    )
    state = cluster_of([first, second, third], said("nodes"), terms, NOW)
    assert [(job.key, job.phase) for job in state.jobs] == [
        ("20_3", "blocked"), ("20_1", "running"), ("20_2", "waiting"),
    ]  # fmt: skip
    second["job_state"] = "COMPLETED"
    state = cluster_of([first, second, third], said("nodes"), terms, NOW)
    assert [job.phase for job in state.jobs] == ["waiting", "ended", "waiting"]


@pytest.mark.parametrize(
    ("changes", "phase", "held"),
    [
        ({"job_state": "PENDING", "priority": 0, "admin_comment": "hpcsched"}, "waiting", True),
        ({"job_state": "PENDING", "priority": 0, "admin_comment": "mine"}, "blocked", False),
        ({"job_state": "PENDING", "priority": 5, "admin_comment": "hpcsched"}, "waiting", False),
        ({"job_state": "PENDING", "priority": 0, "eligible_time": 2 * NOW}, "blocked", False),
        ({"job_state": "COMPLETED"}, "ended", False),
        ({"job_state": "TIMEOUT"}, "ended", False),
    ],
)
def test_phases(changes: dict[str, object], phase: str, held: bool) -> None:
    """State, priority, mark and instants say where a job is."""
    _, jobs = read(**changes)
    assert (jobs["1"].phase, jobs["1"].held) == (phase, held)


def test_endings() -> None:
    """A job ends by itself, at its limit, or before it started."""
    assert read(job_state="FAILED")[1]["1"].ending == "completed"
    assert read(job_state="TIMEOUT")[1]["1"].ending == "killed"
    assert read(job_state="CANCELLED", nodes="")[1]["1"].ending == "cancelled"


def test_what_cannot_be_said() -> None:
    """Constraints with brackets, alternatives of licences and reservations are left to Slurm."""
    pending = {"job_state": "PENDING", "nodes": ""}
    for change in ({"features": "[a*2&b*4]"}, {"licenses": "a:1|b:1"}, {"resv_name": "school"}):
        assert read(**pending, **change)[1]["1"].unknown
    job = read(**pending, features="cpu")[1]["1"]
    assert not job.unknown
    assert job.allowed == {"c1", "c2", "c3"}
    assert read(**pending, features="cpu|gpu")[1]["1"].allowed is None
    assert read(**pending, excluded_nodes="c[1-3]")[1]["1"].allowed == {"g1", "g2", "g3"}


def test_all_memory() -> None:
    """A job that names no memory is given all of a node's, so that no other fits beside it."""
    changes = {"job_state": "PENDING", "nodes": "", "memory_per_node": None, "memory_per_cpu": None}
    assert read(**changes)[1]["1"].exclusive


def test_more_cores_than_a_node() -> None:
    """A job that asks for more cores than a node has needs several nodes."""
    job = read(job_state="PENDING", nodes="", cpus=40, node_count=1)[1]["1"]
    assert (job.units, job.amounts["core"], job.one_unit_per_node) == (3, 14, True)


def test_hardware_threads() -> None:
    """Each is a CPU, as in the history; a job gets whole cores, two threads each here."""
    nodes = [node | {"cpus": 32, "threads": 2} for node in said("nodes")]
    jobs = said("jobs")
    jobs[0] |= {"job_state": "PENDING", "nodes": "", "cpus": 3, "memory_per_cpu": 100}
    state = cluster_of(jobs, nodes, Terms("hpcsched", 1000), NOW)
    by_key = {job.key: job for job in state.jobs}
    assert state.nodes[0].resources["core"] == 32
    assert by_key["1"].amounts == {"core": 4, "mem": 400 * MIB}
    cpus = {name: amounts["core"] for name, amounts in by_key["10"].placed.items()}
    assert cpus == {"c1": 28, "c2": 8, "c3": 2, "g1": 2}


def test_nodes_that_are_not_understood() -> None:
    """One warning names them; they are not used, and all others are."""
    nodes = said("nodes")
    nodes[0]["cpus"] = nodes[1]["cpus"] = None
    del nodes[3]["active_features"]
    state = cluster_of([], nodes, Terms("hpcsched", 1000), NOW)
    assert [node.usable for node in state.nodes] == [False, False, True, False, True, True]
    assert [bool(node.resources) for node in state.nodes] == [node.usable for node in state.nodes]
    assert state.warnings == (
        "the answer on c[1-2] is not understood (expected a number of cpuefctv, found 'None'):"
        " no job is placed there",
        "the answer on g1 is not understood (no field active_features): no job is placed there",
    )
    with pytest.raises(ValueError, match="the answer on c1 is not understood"):
        cluster_of([], nodes[:1], Terms("hpcsched", 1000), NOW)


def number_fields() -> list[tuple[str, str]]:
    """Return the fields of the recorded jobs and nodes that hold whole numbers."""
    return sorted(
        {
            (what, field)
            for what in ("jobs", "nodes")
            for one in json.loads((FOLDER / f"{what}.json").read_text())[what]
            for field, value in one.items()
            if type(value) is int
        }
    )


@pytest.mark.parametrize("value", [-1, 2**70, 1e308, float("inf"), float("nan"), "x", [[]], {}])
@pytest.mark.parametrize(("what", "field"), number_fields())
def test_odd_values(what: str, field: str, value: object) -> None:
    """One odd field is told by its name, or of no matter; the cluster is read all the same."""
    lists = {
        name: json.loads((FOLDER / f"{name}.json").read_text())[name] for name in ("jobs", "nodes")
    }
    lists[what][0][field] = value
    found = cluster_of(
        plain_jobs(38, lists["jobs"]), plain_nodes(38, lists["nodes"]), Terms("x", 1000), NOW
    )
    assert checked_state(found) == found
    told = [warning for warning in found.warnings if "not understood" in warning]
    assert all(field in warning for warning in told)
    if (what, field) in {("jobs", "cpus"), ("jobs", "submit_time"), ("nodes", "real_memory")}:
        assert len(told) == 1


def test_jobs_that_are_not_understood() -> None:
    """A warning names the first; one that waits is left to Slurm, one that runs keeps its nodes."""
    change = {"job_state": "PENDING", "priority": 0, "admin_comment": "hpcsched", "nodes": ""}
    state, jobs = read(**change, cpus="many")
    assert jobs["1"].held
    assert jobs["1"].unknown.startswith("something that is not understood: field cpus: ")
    assert len(jobs) == len(read()[1])
    assert state.warnings[0].startswith(
        "jobs such as 1 are not understood, and left to Slurm: field cpus"
    )
    for change in ({"job_state": "RUNNING"}, {"job_state": None}):
        job = read(**change, cpus="many", nodes="c[1-2],x")[1]["1"]
        assert (job.phase, job.held) == ("running", False)
        assert job.placed == {name: {"core": 16, "mem": 64000 * MIB} for name in ("c1", "c2")}
    assert "1" not in read(job_state="COMPLETED", cpus="many")[1]


def test_devices_of_any_type() -> None:
    """A type may begin with a digit; a job that names it may use the nodes that have it."""
    nodes = said("nodes")
    for node in nodes:
        if node["name"].startswith("g"):
            node["gres"] = "gpu:2080ti:4(S:0-1),gpu:1g.5gb:7,bandwidth:lustre:no_consume:4G"
    asks = {"tres_per_node": "gres:gpu:2080ti:2,gres:bandwidth:lustre:1G"}
    job = said("jobs")[0] | {"job_state": "PENDING", "nodes": ""} | asks
    state = cluster_of([job], nodes, Terms("hpcsched", 1000), NOW)
    assert {n.name: n.resources.get("gpu") for n in state.nodes}["g1"] == 11
    assert state.jobs[0].allowed == {"g1", "g2", "g3"}
    assert state.jobs[0].amounts["gpu"] == 2
    assert "bandwidth" not in state.jobs[0].amounts  # as many jobs as will may use it
    assert state.warnings == ()


@pytest.mark.parametrize("nothing", ["", "(null)", "N/A", "none", "gpu:0"])
def test_no_devices(nothing: str) -> None:
    """A node that has none says so in many ways."""
    nodes = said("nodes")
    nodes[0]["gres"] = nothing
    found = cluster_of([], nodes, Terms("hpcsched", 1000), NOW).nodes[0]
    assert set(found.resources) == {"core", "mem"}


def test_devices_that_are_not_understood() -> None:
    """They are left out of their node and told of; a job that asks for one is left to Slurm."""
    nodes = said("nodes")
    for node in nodes:
        node["gres"] = "gpu:a:b:c,nv-link:2"
    job = said("jobs")[0] | {"job_state": "PENDING", "nodes": "", "tres_per_node": "gpu:a:b:c"}
    state = cluster_of([job], nodes, Terms("hpcsched", 1000), NOW)
    assert state.nodes[0].usable
    assert state.nodes[0].resources["nv_link"] == 2
    assert state.warnings == (
        "the generic resource 'gpu:a:b:c' of c[1-3],g[1-3] is not understood, and left out",
        "the generic resource nv-link is called nv_link",
    )
    assert state.jobs[0].unknown == "the generic resource gpu:a:b:c"
