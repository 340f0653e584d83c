"""Faults of states of clusters name the job, what was expected and what was found."""

from typing import Any

import pytest

from hpcsched.errors import PluginError
from hpcsched.system.cluster import (
    ClusterJob,
    ClusterLimit,
    ClusterState,
    WorkloadManager,
    checked_state,
    read_cluster,
)

LIMIT = ClusterLimit("QOS small", "cpu minutes", 40, "QOS small: GrpTRESRunMins cpu=40", 30)
JOB = ClusterJob(
    "7", 7, "waiting", "main", 100, 60, 1, {"core": 2},
    groups=("QOS small",), limits=(LIMIT,), usage={"jobs": 1, "cpu minutes": 2},
    shared={"license_a": 1},
)  # fmt: skip


def check(**changes: Any) -> None:
    """Check a state with a changed job."""
    checked_state(ClusterState((), (JOB._replace(key="6", job_id=6), JOB._replace(**changes))))


def test_right() -> None:
    """A job with a limit, whose group it is in."""
    check()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"groups": "QOS small"}, r"jobs.1.groups: .*, found 'QOS small'"),
        ({"groups": (3,)}, r"jobs.1.groups.0: .*string, found 3"),
        ({"limits": ("small",)}, r"jobs.1.limits.0: .*, found 'small'"),
        ({"usage": {"cpu": -1}}, r"jobs.1.usage.cpu: .*greater than or equal to 0, found -1"),
        ({"usage": {"cpu": 0.5}}, r"jobs.1.usage.cpu: .*integer.*, found 0.5"),
        ({"shared": ["license_a"]}, r"jobs.1.shared: .*, found \['license_a'\]"),
        ({"phase": "asleep"}, r"jobs.1.phase: .*'waiting'.*, found 'asleep'"),
        ({"limits": (LIMIT._replace(counted=4),)}, r"jobs.1.limits.0.counted: .*string, found 4"),
        ({"limits": (LIMIT._replace(used=-1),)}, r"jobs.1.limits.0.used: .*, found -1"),
        ({"key": "6"}, "expected each job once, found '6' twice"),
        ({"phase": "running"}, "job 7: expected start_time and placed of a running job"),
        ({"phase": "ended"}, "job 7: expected the end_time of an ended job"),
        ({"groups": ("QOS normal",)}, "job 7: expected a limit of its groups, found ClusterLimit"),
    ],
)
def test_wrong_jobs(changes: dict[str, Any], told: str) -> None:
    """The field is named, with what was expected and found."""
    with pytest.raises(ValueError, match=told):
        check(**changes)


class Wrong(WorkloadManager):
    """A manager whose job counts by half a CPU."""

    def read(self) -> ClusterState:
        """Return the state."""
        usage: Any = {"cpu": 0.5}
        return ClusterState((), (JOB._replace(usage=usage),))


def test_reading() -> None:
    """The message of a live run names the plugin."""
    with pytest.raises(PluginError, match=r"Wrong: jobs.0.usage.cpu: .* found 0.5"):
        read_cluster(Wrong())
