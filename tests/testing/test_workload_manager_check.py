"""`check_workload_manager` accepts a manager that is right, and finds each mistake of others."""

import pytest

from hpcsched.errors import PluginError
from hpcsched.system.cluster import ClusterJob, ClusterNode, ClusterState, RefusedError
from hpcsched.testing import check_workload_manager

JOB = ClusterJob("7", 7, "waiting", "main", 100, 60, 1, {"core": 2}, held=True)
NODE = ClusterNode("n1", {"core": 4})


class Cluster:
    """A cluster in memory, with a mistake."""

    def __init__(self, mistake: str = "none", job: ClusterJob = JOB) -> None:
        self._mistake = mistake
        self._jobs = {job.key: job}

    def read(self):
        """Return the state, with the mistake."""
        jobs, nodes = tuple(self._jobs.values()), (NODE,)
        match self._mistake:
            case "type":
                return list(jobs)
            case "node type":
                nodes = ("n1",)
            case "twice":
                jobs = (*jobs, *jobs)
            case "phase":
                jobs = (JOB._replace(phase="pending"),)
            case "running":
                jobs = (*jobs, JOB._replace(key="8", job_id=8, phase="running"))
            case "units":
                jobs = (JOB._replace(units=0),)
            case "gone" if not JOB.held or not self._jobs["7"].held:
                jobs = ()
        return ClusterState(nodes, jobs)

    def start(self, job, nodes) -> None:
        """Start the job, with the mistake."""
        known = self._jobs.get(job.key)
        if known is None or not (known.held or self._mistake == "start again"):
            if self._mistake == "start of unknown":
                return
            raise RefusedError("it is not held")
        wanted = ("n2",) if self._mistake == "elsewhere" else tuple(nodes)
        changed = known._replace(held=self._mistake == "held", wanted=wanted)
        if self._mistake == "runs":
            placed = {node: {"core": 2} for node in nodes}
            changed = changed._replace(phase="running", start_time=200, placed=placed)
        self._jobs[job.key] = changed

    def hold(self, job) -> None:
        """Hold the job, with the mistake."""
        known = self._jobs.get(job.key)
        if known is None or known.phase != "waiting":
            if self._mistake == "hold of unknown":
                return
            raise RefusedError("it does not wait")
        if self._mistake != "not held":
            self._jobs[job.key] = known._replace(held=True, wanted=())


@pytest.mark.parametrize("mistake", ["none", "runs"])
def test_right(mistake: str) -> None:
    """A started job may wait for its nodes, or run at once."""
    check_workload_manager(lambda: Cluster(mistake))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", ": .*, found"),
        ("node type", ": nodes.0: .*, found 'n1'"),
        ("twice", ": expected each job once, found '7' twice"),
        ("phase", ": jobs.0.phase: .*, found 'pending'"),
        ("running", ": job 8: expected start_time and placed of a running job"),
        ("units", ": jobs.0.units: .* greater than or equal to 1, found 0"),
        ("start of unknown", "start of a job that is not there: expected RefusedError"),
        ("hold of unknown", "hold of a job that is not there: expected RefusedError"),
        ("held", "job 7: expected it held no more after start, found it held"),
        ("elsewhere", r"job 7: expected it on \['n1'\], found \['n2'\]"),
        ("start again", "start of a job that is not held: expected RefusedError, found none"),
        ("not held", "job 7: expected it held, and bound to no node, after hold; found held=False"),
        ("gone", "job 7: expected it still there, found it gone"),
    ],
)
def test_wrong(mistake: str, message: str) -> None:
    """Each mistake is named."""
    with pytest.raises((AssertionError, PluginError), match=message):
        check_workload_manager(lambda: Cluster(mistake))


def test_no_held_job() -> None:
    """There must be something to start."""
    with pytest.raises(
        (AssertionError, PluginError), match="expected a cluster with a held job that waits"
    ):
        check_workload_manager(lambda: Cluster(job=JOB._replace(held=False)))
