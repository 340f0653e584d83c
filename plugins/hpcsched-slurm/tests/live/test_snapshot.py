"""From a cluster to a problem, and from a decision to starts."""

import numpy as np
import pytest

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.errors import InputError
from hpcsched.prediction.predictor import OneSecond
from hpcsched.simulation.check import BadDecisionError, check_decision
from hpcsched.system.cluster import ClusterNode
from hpcsched.system.space import NodeAllocation
from hpcsched_slurm.live.site import check_site
from hpcsched_slurm.live.snapshot import Asked, Snapshot, snapshot
from live.fake_cluster import FakeCluster
from live.sessions import ORIGIN, site_of
from tests.builders import NoObjective

NOW = 1_000_000 - ORIGIN


def shot(cluster: FakeCluster, *, driven: bool = True, starting: tuple[str, ...] = ()) -> Snapshot:
    """Return the problem of a cluster."""
    asked = Asked(
        site_of(cluster), lambda job: job.requested_time, OneSecond(), NoObjective(), driven,
        starting,
    )  # fmt: skip
    return snapshot(cluster.read(), asked, NOW, 1)


def free(found: Snapshot) -> list[int]:
    """Return the free cores of each node."""
    assert found.problem.free_amounts is not None
    return [int(n) for n in found.problem.free_amounts[0]]


def test_what_is_free() -> None:
    """What runs, in any partition, and what is about to start is taken; nodes that are down are."""
    cluster = FakeCluster(("a1", "a2", "a3", "a4"))
    for number in range(1, 4):
        cluster.submit(number, number, 100)
    jobs = cluster.jobs
    placed = {"a1": {"core": 1}}
    jobs["1"] = jobs["1"]._replace(
        phase="running", partition="other", start_time=999_000, placed=placed
    )
    jobs["2"] = jobs["2"]._replace(held=False, wanted=("a2",))
    cluster.nodes["a4"] = False
    found = shot(cluster, starting=("2",))
    assert free(found) == [3, 2, 4, 0]
    assert np.array_equal(found.problem.availability[:, 0], [3, 2, 4, 0])
    assert [job.job_id for job in found.problem.queue] == [3]
    ends = {job.job_id: job.predicted_end_time for job in found.problem.running}
    assert ends == {1: 999_000 + 3600 - ORIGIN, 2: NOW + 3600, -1: NOW + 86_400}


def test_uneven_jobs() -> None:
    """A job that holds different amounts on its nodes is there once for each amount."""
    cluster = FakeCluster(("a1", "a2", "a3"))
    cluster.submit(1, 1, 100)
    placed = {"a1": {"core": 4}, "a2": {"core": 1}, "a3": {"core": 1}, "b": {"core": 9}}
    cluster.jobs["1"] = cluster.jobs["1"]._replace(
        phase="running", start_time=999_999, placed=placed
    )
    found = shot(cluster)
    assert free(found) == [0, 3, 3]
    assert [(job.units, job.waiting.unit_request) for job in found.problem.running] == [
        (1, (4,)), (2, (1,)),
    ]  # fmt: skip


def test_late_jobs_end_in_the_future() -> None:
    """A job that has outlived its prediction is said to end later than now."""
    cluster = FakeCluster()
    cluster.submit(1, 1, 100)
    placed = {"a1": {"core": 1}}
    cluster.jobs["1"] = cluster.jobs["1"]._replace(phase="running", start_time=9_000, placed=placed)
    assert shot(cluster).problem.running[0].predicted_end_time == NOW + 1


def test_who_waits() -> None:
    """To advise, all jobs count that could start; to drive, those that are held."""
    cluster = FakeCluster()
    for number in range(1, 6):
        cluster.submit(number, 1, 10, held=number != 1)
    jobs = cluster.jobs
    jobs["2"] = jobs["2"]._replace(phase="blocked", why="waits for 1")
    jobs["3"] = jobs["3"]._replace(unknown="licences")
    jobs["4"] = jobs["4"]._replace(amounts={"core": 9})
    driven, advised = shot(cluster), shot(cluster, driven=False)
    assert list(driven.queue) == [5]
    assert list(advised.queue) == [1, 5]
    assert {reason.job_id: reason.detail for reason in driven.left_out} == {
        1: "left to the cluster",
        2: "waits for 1",
        3: "left to the cluster, since it asks for licences",
        4: "it does not fit on the idle nodes that it may use",
    }
    assert [job.key for job in driven.beyond] == ["3", "4"]


def test_nodes_that_are_not_as_declared() -> None:
    """A node that is not there, or has less, is one finding each."""
    site = site_of(FakeCluster())
    check_site(site, [ClusterNode("a1", {"core": 4}), ClusterNode("a2", {"core": 5})], ())
    with pytest.raises(InputError) as caught:
        check_site(site, [ClusterNode("a1", {"core": 3})], ())
    assert [finding.message for finding in caught.value.findings] == [
        "the node a1 has less than is declared: 3 core instead of 4",
        "the cluster has no node a2",
    ]


def start(number: int, *units: int) -> Start:
    """Return a start with so many units on the first nodes."""
    nodes = tuple(n for n, count in enumerate(units) if count)
    return Start(number, NodeAllocation(nodes, tuple(count for count in units if count)))


def test_nodes_that_are_gone_or_not_understood() -> None:
    """Nothing is placed on them, and nodes without a description are not compared."""
    cluster = FakeCluster(("a1", "a2"))
    site = site_of(cluster)
    check_site(site, [ClusterNode("a1", {"core": 4}), ClusterNode("a2", {}, usable=False)], ())
    asked = Asked(site, lambda job: job.requested_time, OneSecond(), NoObjective(), driven=True)
    del cluster.nodes["a2"]
    assert free(snapshot(cluster.read(), asked, NOW, 1)) == [4, 0]


def test_decisions_that_break_a_rule() -> None:
    """Refused: room that is not there, jobs that do not wait or start twice, units that share."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 10)
    cluster.submit(2, 3, 10)
    cluster.submit(3, 1, 10, units=2)
    problem = shot(cluster).problem
    good = Decision((start(1, 1), start(2, 0, 1)))
    assert [job.job_id for job in check_decision(problem, good)] == [1, 2]
    for starts in (
        [start(1, 1), start(2, 1)],
        [start(4, 1)],
        [start(1, 1), start(1, 0, 1)],
        [start(3, 2)],
    ):
        with pytest.raises(BadDecisionError):
            check_decision(problem, Decision(tuple(starts)))


def test_jobs_of_several_nodes() -> None:
    """Each of their units needs a node of its own, also to fit at all."""
    cluster = FakeCluster()
    cluster.submit(1, 1, 10, units=2)
    cluster.submit(2, 1, 10, units=3)
    found = shot(cluster)
    (job,) = found.problem.queue
    assert (job.units, job.job.one_unit_per_node) == (2, True)
    assert [one.key for one in found.beyond] == ["2"]
