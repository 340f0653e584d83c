"""Shared resources of a cluster, such as licences."""

import pytest

from hpcsched.errors import InputError
from hpcsched.system.cluster import ClusterNode
from hpcsched_slurm.live.site import check_site
from hpcsched_slurm.live.snapshot import with_shared
from live.fake_cluster import FakeCluster
from live.sessions import session, site_of
from live.test_snapshot import shot

NODES = [ClusterNode(name, {"core": 4}) for name in ("a1", "a2")]


def cluster(present: int) -> FakeCluster:
    """Return a cluster with licences, and three jobs that ask for 2, 1 and 5 of them."""
    made = FakeCluster()
    made.shared = {"license_matlab": present}
    for number, licences in ((1, 2), (2, 1), (3, 5)):
        made.submit(number, 1, 20)
        made.jobs[str(number)] = made.jobs[str(number)]._replace(
            shared={"license_matlab": licences}
        )
    return made


def test_what_is_there() -> None:
    """The cluster's own number counts, without what jobs on other nodes hold."""
    made = cluster(4)
    made.jobs["1"] = made.jobs["1"]._replace(phase="running", placed={"b": {"core": 1}})
    found = shot(made)
    shared = found.problem.shared_resources
    assert shared is not None
    assert (shared.shared_resources[0].capacity, shared.free.tolist()) == (2, [2])
    assert shared.draws.tolist() == [[1]]
    assert [reason.detail for reason in found.left_out] == [
        "it asks for 5 license_matlab, of which there are 2 now"
    ]
    assert found.beyond == ()


def test_a_running_job_draws_once() -> None:
    """Also where it holds different amounts on its nodes."""
    made = cluster(4)
    placed = {"a1": {"core": 1}, "a2": {"core": 2}}
    made.jobs["1"] = made.jobs["1"]._replace(phase="running", placed=placed)
    shared = shot(made).problem.shared_resources
    assert shared is not None
    assert shared.free.tolist() == [2]


def test_driven(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of two jobs that fit on the nodes, the second waits for licences of the first."""
    made = cluster(2)
    driven = session(made, tmp_path_factory.mktemp("live"))
    driven.driver.step()
    assert [call[1] for call in made.calls] == ["1"]


def test_resources_that_are_not_there() -> None:
    """A job that asks for an undeclared one is left to the cluster; a declared one must exist."""
    made = cluster(2)
    site = site_of(made)
    with pytest.raises(InputError, match="no shared resource license_matlab; found: license_x"):
        check_site(site, NODES, ["license_x"])
    check_site(site, NODES, made.shared)
    assert with_shared(site.system, {"license_matlab": 9}, []) is site.system
    made.shared = {}
    found = shot(made)
    assert [one.key for one in found.beyond] == ["1", "2", "3"]
    assert "license_matlab, which the system does not have" in found.left_out[0].detail
