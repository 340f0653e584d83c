"""Reservations of a cluster become outages of a site."""

from hpcsched.prediction.predictor import OneSecond
from hpcsched.system.cluster import ClusterNode, ClusterOutage, ClusterState
from hpcsched_slurm.live.snapshot import (
    Asked,
    Snapshot,
    closed_now,
    outages_of,
    returns,
    snapshot,
    within_service,
)
from live.fake_cluster import FakeCluster
from live.sessions import ORIGIN, site_of
from tests.builders import NoObjective

INSTANT = 1_000_000
NOW = INSTANT - ORIGIN


def reserved(start: int, end: int, *nodes: str) -> ClusterOutage:
    """Return a reservation from and to so many seconds from now."""
    return ClusterOutage("school", nodes, INSTANT + start, INSTANT + end)


def shot(cluster: FakeCluster, *outages: ClusterOutage) -> Snapshot:
    """Return the problem of a cluster with reservations."""
    asked = Asked(
        site_of(cluster), lambda _job: 10, OneSecond(), NoObjective(), driven=True
    )  # fmt: skip
    return snapshot(cluster.read()._replace(outages=outages), asked, NOW, 1)


def test_outages_of_the_site() -> None:
    """Those of its nodes that are not over, by start; nodes of others are left out."""
    site = site_of(FakeCluster(("a1", "a2")))
    told = [reserved(50, 60, "a2", "a1"), reserved(-9, 0, "a1"), reserved(-9, 5, "b", "a1")]
    first, second = outages_of([*told, reserved(1, 2, "b")], site, NOW)
    assert first[:3] == (NOW - 9, NOW + 5, (0,))
    assert second == (NOW + 50, NOW + 60, (0, 1), "reservation", "school")
    assert closed_now([first, second], NOW) == {0: NOW + 5}


def test_a_job_keeps_off_nodes_that_are_reserved_before_its_limit() -> None:
    """Its requested hour counts, and not the 10 seconds that are predicted."""
    cluster = FakeCluster(("a1", "a2"))
    cluster.submit(1, 1, 10)
    (job,) = shot(cluster, reserved(3599, 9000, "a1")).problem.queue
    assert job.request.allowed_nodes == {1}
    (job,) = shot(cluster, reserved(3600, 9000, "a1")).problem.queue
    assert job.request.allowed_nodes is None


def test_too_few_nodes_stay_in_service() -> None:
    """The job waits, with the reservation as its reason, and is not left to the cluster."""
    cluster = FakeCluster(("a1", "a2"))
    cluster.submit(1, 1, 10, units=2)
    found = shot(cluster, reserved(60, 9000, "a1"))
    assert found.problem.queue == ()
    assert found.beyond == ()
    (reason,) = found.left_out
    assert (reason.kind, reason.detail) == ("outage", "reservation school")


def test_a_current_reservation_closes_its_nodes() -> None:
    """Until its end, also where the cluster says nothing of the node."""
    cluster = FakeCluster(("a1", "a2"))
    cluster.submit(1, 1, 10)
    found = shot(cluster, reserved(-5, 77, "a1"))
    assert found.problem.free_amounts is not None
    assert found.problem.free_amounts[0].tolist() == [0, 4]
    assert [job.predicted_end_time for job in found.problem.running] == [NOW + 77]
    assert found.problem.queue[0].request.allowed_nodes is None
    assert [one.end for one in found.problem.outages] == [NOW + 77]


def test_nodes_that_are_expected_back() -> None:
    """At that instant; in a day where it is unknown, and not before the next second."""
    site = site_of(FakeCluster(("a1", "a2", "a3")))
    back = {"a1": INSTANT + 300, "a2": None, "a3": INSTANT - 5, "b": None}
    assert returns(back, site, NOW, 1000) == {0: NOW + 300, 1: NOW + 1000, 2: NOW + 1}
    asked = Asked(site, lambda _job: 10, OneSecond(), NoObjective(), driven=True)
    nodes = [ClusterNode(name, {"core": 4}, name == "a2") for name in ("a1", "a2", "a3")]
    nodes[0] = nodes[0]._replace(back=INSTANT + 300)
    found = snapshot(ClusterState(tuple(nodes), ()), asked, NOW, 1)
    ends = [job.predicted_end_time for job in found.problem.running]
    assert ends == [NOW + 300, NOW + 86_400]


def test_jobs_of_few_allowed_nodes() -> None:
    """Nodes that a job may not use anyway do not change its request."""
    cluster = FakeCluster(("a1", "a2"))
    cluster.submit(1, 1, 10)
    cluster.jobs["1"] = cluster.jobs["1"]._replace(allowed=frozenset({"a2"}))
    found = shot(cluster, reserved(60, 9000, "a1"))
    outages = found.problem.outages
    (job,) = found.problem.queue
    assert job.request.allowed_nodes == {1}
    assert within_service(job, outages, site_of(cluster), NOW) is job


def test_jobs_of_several_partitions() -> None:
    """One of them is enough."""
    cluster = FakeCluster()
    cluster.submit(1, 1, 10)
    job = cluster.jobs["1"]._replace(partition="other")
    site = site_of(cluster)
    assert not site.has(job)
    assert site.has(job._replace(partitions=frozenset({"other", "main"})))
