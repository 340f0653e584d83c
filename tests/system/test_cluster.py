"""Faults of states of clusters name the job, what was expected and what was found."""

from typing import Any

import pytest

from hpcsched.errors import PluginError
from hpcsched.system.cluster import (
    ClusterJob,
    ClusterLimit,
    ClusterState,
    WorkloadManager,
    read_cluster,
    state_fault,
)

LIMIT = ClusterLimit("QOS small", "cpu minutes", 40, "QOS small: GrpTRESRunMins cpu=40", 30)
JOB = ClusterJob(
    "7", 7, "waiting", "main", 100, 60, 1, {"core": 2},
    groups=("QOS small",), limits=(LIMIT,), usage={"jobs": 1, "cpu minutes": 2},
    shared={"license_a": 1},
)  # fmt: skip


def fault(**changes: Any) -> str | None:
    """Return the fault of a state with a changed job."""
    return state_fault(ClusterState((), (JOB._replace(key="6", job_id=6), JOB._replace(**changes))))


def test_right() -> None:
    """A job with a limit, whose group it is in."""
    assert fault() is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"groups": "QOS small"}, "job 7: expected names of groups, found 'QOS small'"),
        ({"groups": (3,)}, "job 7: expected names of groups, found (3,)"),
        ({"limits": ("small",)}, "job 7: expected a ClusterLimit in limits, found 'small'"),
        ({"usage": {"cpu": -1}},
         "job 7: usage: expected whole amounts of at least 0 by name, found 'cpu': -1"),
        ({"usage": {"cpu": 0.5}},
         "job 7: usage: expected whole amounts of at least 0 by name, found 'cpu': 0.5"),
        ({"shared": ["license_a"]},
         "job 7: shared: expected a mapping of names to amounts, found ['license_a']"),
    ],
)  # fmt: skip
def test_wrong_jobs(changes: dict[str, Any], told: str) -> None:
    """Groups, limits and usage are looked at."""
    assert fault(**changes) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"counted": 4}, "expected the counted of a limit as a text, found 4"),
        ({"most": 40.0}, "expected the most of a limit as a whole number, found 40.0"),
        ({"name": None}, "expected the name of a limit as a text, found None"),
        ({"used": -1}, "expected a whole used of a limit of at least 0, found -1"),
    ],
)
def test_wrong_limits(changes: dict[str, Any], told: str) -> None:
    """Each field of a limit is looked at."""
    assert fault(limits=(LIMIT._replace(**changes),)) == f"job 7: {told}"


def test_a_limit_of_another_group() -> None:
    """It would count no job."""
    found = fault(groups=("QOS normal",))
    assert found is not None
    assert found.startswith("job 7: expected a limit of one of its groups, found ClusterLimit(")


def test_amounts_of_a_state() -> None:
    """Shared resources and limits of nodes are whole amounts too."""
    assert state_fault(ClusterState((), (), node_limits={"main": -1})) == (
        "node_limits: expected whole amounts of at least 0 by name, found 'main': -1"
    )


class Wrong(WorkloadManager):
    """A manager whose job counts by half a CPU."""

    def read(self) -> ClusterState:
        """Return the state."""
        usage: Any = {"cpu": 0.5}
        return ClusterState((), (JOB._replace(usage=usage),))


def test_reading() -> None:
    """The message of a live run names the plugin."""
    with pytest.raises(PluginError, match="Wrong: job 7: usage: expected whole amounts"):
        read_cluster(Wrong())
