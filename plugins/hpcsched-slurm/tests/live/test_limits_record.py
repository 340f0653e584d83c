"""Limits of a cluster are kept by the driver, and recorded for its simulation."""

from pathlib import Path

from hpcsched.system.cluster import ClusterLimit, Phase
from hpcsched.system.group_limits import read_limits
from hpcsched_slurm.live.driver import Limits
from hpcsched_slurm.live.session import LimitsRecord
from live.fake_cluster import FakeCluster
from live.sessions import session, site_of

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


def test_record(tmp_path: Path) -> None:
    """Each job has the limits with which it last waited; jobs without any are left out."""
    cluster = limited(1, 2)
    cluster.submit(3, 1, 5)
    cluster.submit(4, 1, 5)
    cluster.jobs["4"] = cluster.jobs["4"]._replace(shared={"license_a": 2})
    record = LimitsRecord(site_of(cluster))
    record.take(cluster.read(), 100)
    three = TWO_JOBS._replace(most=3)
    cluster.jobs["1"] = cluster.jobs["1"]._replace(limits=(three,))
    cluster.jobs["2"] = cluster.jobs["2"]._replace(phase="running", limits=(), usage={"jobs": 9})
    record.take(cluster.read(), 101)
    record.write(tmp_path)
    found = read_limits(tmp_path / "limits.jsonl")
    assert {number: seen.job.limits for number, seen in found.items()} == {
        1: (three,), 2: (TWO_JOBS,), 4: (),
    }  # fmt: skip
    assert found[2].job.usage == {"jobs": 1}
    assert found[4].shared == {"license_a": 2}


def test_blocked_jobs(tmp_path: Path) -> None:
    """The end of the time in which a job was beyond a limit by itself is kept, with the limit."""
    cluster = FakeCluster()
    cluster.submit(1, 1, 5)
    cluster.submit(2, 1, 5)
    record = LimitsRecord(site_of(cluster))
    why = "partition main: MaxNodes=1"
    phases: dict[int, Phase] = {100: "blocked", 110: "blocked", 120: "waiting", 130: "waiting"}
    for now, phase in phases.items():
        cluster.jobs["1"] = cluster.jobs["1"]._replace(phase=phase, why=why)
        record.take(cluster.read(), now)
    record.write(tmp_path)
    (found,) = read_limits(tmp_path / "limits.jsonl").values()
    assert (found.job.key, found.job.until, found.job.why) == ("1", 120, why)
