"""What Slurm says becomes a cluster."""

import pytest
from recorded import MIB, NOW, read, said

from hpcsched_slurm.arrays import first_array_number, task_ranges
from hpcsched_slurm.gres import Gres, offers, parse_gres, totals
from hpcsched_slurm.reading import Terms, cluster_of


def test_nodes() -> None:
    """Nodes offer cores, memory and GPUs."""
    state, _ = read()
    by_name = {node.name: node for node in state.nodes}
    assert by_name["c1"].resources == {"core": 16, "mem": 64000 * MIB}
    assert by_name["g3"].resources == {"core": 8, "mem": 128000 * MIB, "gpu": 4}
    assert all(node.usable for node in state.nodes)


@pytest.mark.parametrize(
    ("state", "flags"), [("down", []), ("idle", ["DRAIN"]), ("mixed", ["NOT_RESPONDING"])]
)
def test_nodes_that_may_not_be_used(state: str, flags: list[str]) -> None:
    """Nodes that are down, drained or silent are said to be, with the reason."""
    nodes = said("nodes")
    nodes[0] |= {"state": state, "state_flags": flags, "reason": "broken fan"}
    found = cluster_of([], nodes, Terms("hpcsched", 1000), NOW).nodes[0]
    assert not found.usable
    assert "broken fan" in found.why


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
    assert jobs["3"].scatter
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
    """Constraints with brackets, licences and reservations are left to Slurm."""
    pending = {"job_state": "PENDING", "nodes": ""}
    for change in ({"features": "[a*2&b*4]"}, {"licenses": "matlab:1"}, {"resv_name": "school"}):
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
    assert (job.units, job.amounts["core"], job.scatter) == (3, 14, True)


def test_unknown_objects() -> None:
    """Objects of another form are not guessed at."""
    jobs = said("jobs")
    del jobs[0]["job_state"]
    with pytest.raises(KeyError):
        cluster_of(jobs, said("nodes"), Terms("hpcsched", 1000), NOW)


def test_resources() -> None:
    """Generic resources are read in all the ways in which Slurm writes them."""
    assert parse_gres("gpu:a100:4(S:0-1),shard:8") == (
        Gres("gpu", "a100", 4), Gres("shard", None, 8),
    )  # fmt: skip
    assert parse_gres("gres:gpu:2") == parse_gres("gres/gpu=2") == (Gres("gpu", None, 2),)
    assert parse_gres("gpu") == (Gres("gpu", None, 1),)
    assert parse_gres("gpu:a100:2(IDX:0,3)") == (Gres("gpu", "a100", 2),)
    assert parse_gres("(null)") == parse_gres("") == ()
    assert totals(parse_gres("gpu:a:1,gpu:b:2,MPS:1K")) == {"gpu": 3, "mps": 1024}
    assert offers(parse_gres("gpu:a100:4"), parse_gres("gpu:4"))
    assert not offers(parse_gres("gpu:a100:4"), parse_gres("gpu:h100:1"))
    with pytest.raises(ValueError, match="expected resources"):
        parse_gres("gpu:a:b:c")
