"""Limits on the cores of a node that the jobs of a partition use together."""

from pathlib import Path

from hpcsched_slurm.live.driver import Limits
from hpcsched_slurm.live.rounds import cores_in_use, within_node_limits
from live.fake_cluster import FakeCluster
from live.sessions import session


def cluster() -> FakeCluster:
    """Return a cluster of two nodes of 4 cores, of which jobs of `main` may use 2."""
    made = FakeCluster()
    made.node_limits = {"main": 2}
    return made


def test_nodes_that_are_left() -> None:
    """Jobs of 1 core on a1 and, told to start, on a2 leave 1 core each; other partitions none."""
    made = cluster()
    for number, cores in ((1, 1), (2, 1), (3, 4), (4, 1), (5, 2)):
        made.submit(number, cores, 60)
    jobs = made.jobs
    jobs["1"] = jobs["1"]._replace(phase="running", placed={"a1": {"core": 1}})
    jobs["2"] = jobs["2"]._replace(held=False, wanted=("a2",))
    jobs["3"] = jobs["3"]._replace(phase="running", partition="b", placed={"a1": {"core": 4}})
    state = made.read()
    used = cores_in_use(state, ["2"])
    assert used == {("main", "a1"): 1, ("main", "a2"): 1}
    found = {job.key: job for job in within_node_limits(state, used, ["2"]).jobs}
    assert (found["2"], found["4"]) == (jobs["2"], jobs["4"])
    assert (found["5"].phase, found["5"].held, found["5"].why) == (
        "blocked", False, "partition main: its jobs may use 2 cores of a node",
    )  # fmt: skip
    # With a1 at its limit, only a2 is left.
    jobs["1"] = jobs["1"]._replace(placed={"a1": {"core": 2}})
    state = made.read()
    found = {job.key: job for job in within_node_limits(state, cores_in_use(state, []), []).jobs}
    assert found["4"].allowed == {"a2"}


def test_starts_of_one_round(tmp_path: Path) -> None:
    """Both jobs of 2 cores fit on a1; the second is decided again at once, and starts on a2."""
    made = cluster()
    made.submit(1, 2, 20)
    made.submit(2, 2, 20)
    driven = session(made, tmp_path)
    driven.driver.run(Limits(seconds=3))
    starts = [call for call in made.calls if call[0] == "start"]
    assert starts == [("start", "1", ("a1",)), ("start", "2", ("a2",))]
    first, second = driven.rounds[:2]
    told = {reason.job_id: reason.detail for reason in first.reasons if reason.kind == "limit"}
    assert told == {2: "partition main: its jobs may use 2 cores of a node"}
    assert (first.again, second.again) == (True, False)
    assert second.record.now - first.record.now == 1
    driven.driver.run(Limits(seconds=60, until_idle=True))
    assert {job.phase for job in made.jobs.values()} == {"ended"}
