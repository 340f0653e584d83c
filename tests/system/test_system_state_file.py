"""The cluster in a file: read again each time, and never changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import InputError
from hpcsched.system.cluster import ClusterNode, RefusedError, StateFile, StateFileParams

JOB: dict[str, Any] = {
    "key": "11.batch",
    "job_id": 11,
    "phase": "running",
    "partition": "main",
    "submit_time": 1_000_000,
    "requested_time": 600,
    "units": 2,
    "amounts": {"core": 3},
    "allowed": ["a1", "a2"],
    "placed": {"a1": {"core": 3}, "a2": {"core": 3}},
    "start_time": 1_000_005,
}
NODES: list[dict[str, Any]] = [
    {"name": "a1", "resources": {"core": 4}},
    {"name": "a2", "resources": {"core": 4}, "usable": False, "why": "drained"},
]


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    """Return the file of a cluster of two nodes and a job."""
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"nodes": NODES, "jobs": [JOB]}))
    return path


def manager(path: Path) -> StateFile:
    """Return the workload manager of a file."""
    return StateFile(StateFileParams(path=str(path)))


def test_reading(path: Path) -> None:
    """Fields are those of the cluster; what is left out has its default."""
    state = manager(path).read()
    assert state.nodes == (
        ClusterNode("a1", {"core": 4}),
        ClusterNode("a2", {"core": 4}, usable=False, why="drained"),
    )
    (job,) = state.jobs
    assert (job.key, job.job_id, job.units, job.amounts) == ("11.batch", 11, 2, {"core": 3})
    assert job.allowed == {"a1", "a2"}
    assert job.placed == {"a1": {"core": 3}, "a2": {"core": 3}}
    assert (job.start_time, job.end_time, job.held, job.wanted) == (1_000_005, None, False, ())
    assert state.warnings == ()


def test_each_call_reads_again(path: Path) -> None:
    """A program may write the file anew between two rounds."""
    cluster = manager(path)
    assert len(cluster.read().jobs) == 1
    path.write_text(json.dumps({"nodes": NODES, "jobs": []}))
    assert cluster.read().jobs == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is damaged: "),
        ('{"nodes": []}', "it is damaged: jobs: "),
        (
            json.dumps({"nodes": NODES, "jobs": [{**JOB, "phase": "asleep"}]}),
            "it is damaged: jobs.0.phase: ",
        ),
        (
            json.dumps({"nodes": [{"name": "a1"}], "jobs": []}),
            "it is damaged: nodes.0.resources: ",
        ),
    ],
)
def test_damage(path: Path, text: str, message: str) -> None:
    """The file and the place in it are told."""
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        manager(path).read()
    assert str(refused.value).startswith(f"{path}: error: {message}")
    assert str(refused.value).endswith(" [damaged-file]")


def test_no_file(tmp_path: Path) -> None:
    """What cannot be read is told with the reason."""
    missing = tmp_path / "none.json"
    with pytest.raises(InputError) as refused:
        manager(missing).read()
    assert str(refused.value) == (
        f"{missing}: error: it cannot be read: No such file or directory [missing-file]"
    )


def test_nothing_can_be_changed(path: Path) -> None:
    """Starting and holding are refused, with the manager's name of the job."""
    cluster = manager(path)
    (job,) = cluster.read().jobs
    before = path.read_bytes()
    with pytest.raises(RefusedError, match=r"job 11\.batch: a state in a file cannot be changed"):
        cluster.start(job, ["a1"])
    with pytest.raises(RefusedError, match=r"job 11\.batch"):
        cluster.hold(job)
    assert path.read_bytes() == before
