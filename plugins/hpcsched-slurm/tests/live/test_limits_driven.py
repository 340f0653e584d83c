"""Limits of a cluster are kept by the driver."""

from pathlib import Path

from hpcsched.system.cluster import ClusterLimit
from hpcsched_slurm.live.driver import Limits
from live.fake_cluster import FakeCluster
from live.sessions import session

TWO_JOBS = ClusterLimit("ann", "jobs", 2, "QOS small: MaxJobsPerUser=2")


def limited(*numbers: int) -> FakeCluster:
    """Return a cluster with waiting jobs of one core and 5 seconds, of which two may run."""
    cluster = FakeCluster()
    for number in numbers:
        cluster.submit(number, 1, 5)
        cluster.jobs[str(number)] = cluster.jobs[str(number)]._replace(
            groups=("ann",), limits=(TWO_JOBS,), usage={"jobs": 1}
        )
    return cluster


def test_driven(tmp_path: Path) -> None:
    """Six jobs of one core fit, but only two run at any time; the reason names the limit."""
    cluster = limited(1, 2, 3, 4, 5, 6)
    made = session(cluster, tmp_path)
    most = 0
    while any(one.phase != "ended" for one in cluster.jobs.values()):
        made.driver.run(Limits(seconds=1))
        told = [one for one in cluster.jobs.values() if one.phase == "waiting" and one.wanted]
        runs = [one for one in cluster.jobs.values() if one.phase == "running"]
        most = max(most, len(told) + len(runs))
    assert most == 2
    reasons = {one.job_id: one.detail for one in made.rounds[0].reasons if one.kind == "limit"}
    assert reasons == dict.fromkeys((3, 4, 5, 6), TWO_JOBS.name)


def test_a_round_when_a_limit_changes(tmp_path: Path) -> None:
    """Usage that falls brings a round about though no job has changed."""
    cluster = limited(1)
    full = TWO_JOBS._replace(used=2)
    cluster.jobs["1"] = cluster.jobs["1"]._replace(limits=(full,))
    made = session(cluster, tmp_path)
    for _ in range(3):
        made.driver.step()
    assert len(made.rounds) == 1
    cluster.jobs["1"] = cluster.jobs["1"]._replace(limits=(TWO_JOBS,))
    made.driver.step()
    assert [len(one.starts) for one in made.rounds] == [0, 1]
