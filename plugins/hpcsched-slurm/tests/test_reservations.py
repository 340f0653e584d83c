"""Reservations become outages, from JSON and from text."""

import time
from typing import Any

import pytest

from hpcsched.system.cluster import ClusterNode, ClusterOutage, UnavailableError
from hpcsched_slurm.manager import Slurm, cluster_of
from hpcsched_slurm.reading_jobs import Terms
from hpcsched_slurm.reading_nodes import SOON
from hpcsched_slurm.reservations import Reservations, read_reservations, reservations_of_text
from hpcsched_slurm.versions import plain_reservations
from recorded import NOW, said
from test_versions import answer

TEXT = """\
ReservationName=school StartTime=2026-11-23T08:00:00 EndTime=2026-11-23T10:00:00 \
Duration=02:00:00 Nodes=c[1-2] NodeCnt=2 CoreCnt=32 Features=(null) PartitionName=(null) \
Flags=SPEC_NODES TRES=cpu=32 Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE
ReservationName=matlab StartTime=2026-11-23T08:00:00 EndTime=2026-11-23T10:00:00 \
Duration=02:00:00 Nodes=(null) NodeCnt=0 CoreCnt=0 Licenses=matlab:3 State=ACTIVE
ReservationName=odd StartTime=later EndTime=2026-11-23T10:00:00 Nodes=c1
"""


def test_text() -> None:
    """Nodes and local times are read; what reserves no node is none, what is odd is told of."""
    outages, warnings = read_reservations(reservations_of_text(TEXT))
    (school,) = outages
    assert (school.name, school.nodes) == ("school", ("c1", "c2"))
    assert time.strftime("%F %T", time.localtime(school.start)) == "2026-11-23 08:00:00"
    assert school.end - school.start == 7200
    (warning,) = warnings
    assert warning.startswith("the reservation odd is not understood, and left to Slurm: time data")
    assert reservations_of_text("No reservations in the system\n") == []


def test_recorded() -> None:
    """The recorded reservation of v0.0.41 is of 512 nodes, for a day."""
    plain = plain_reservations(41, answer(41, "slurm-reservations")["reservations"])
    (outage,), warnings = read_reservations(plain)
    assert (outage.name, len(outage.nodes)) == ("training", 512)
    assert (outage.start, outage.end) == (1748250553, 1748336953)
    assert warnings == ()


def node(*flags: str, **changes: object) -> ClusterNode:
    """Return a node with flags, with a reservation of it that ends in 100 seconds."""
    told: list[Any] = [said("nodes")[0] | {"state": "idle", "state_flags": list(flags)} | changes]
    outage = ClusterOutage("school", ("c1",), int(NOW) - 5, int(NOW) + 100)
    reservations = Reservations((outage,), ())
    state = cluster_of([], told, Terms("hpcsched", 1000), NOW, reservations)
    assert state.outages == (outage,)
    return state.nodes[0]


@pytest.mark.parametrize(
    ("flags", "usable", "back"),
    [
        ((), True, None),
        (("PLANNED",), True, None),
        (("COMPLETING",), True, None),
        (("CLOUD", "POWERED_DOWN"), True, None),
        (("CLOUD", "POWERING_UP"), False, SOON),
        (("POWERING_DOWN",), False, SOON),
        (("REBOOT_REQUESTED",), False, SOON),
        (("REBOOT_ISSUED", "DRAIN"), False, None),
        (("DRAIN",), False, None),
        (("RESERVED",), False, 100),
        (("MAINT",), False, 100),
        (("MAINT", "DRAIN"), False, None),
        (("MAINT", "POWERING_UP"), False, None),
    ],
)
def test_states_of_nodes(flags: tuple[str, ...], usable: bool, back: int | None) -> None:
    """Whether a node can be used now, and in how many seconds it is expected back."""
    found = node(*flags)
    assert found.usable == usable
    assert found.back == (None if back is None else int(NOW) + back)
    assert all(flag in found.why for flag in flags if not usable and flag != "CLOUD")


def test_nodes_that_are_down_stay_so() -> None:
    """Whatever else is said of them."""
    found = node("RESERVED", state="down")
    assert (found.usable, found.back) == (False, None)


class Silent:
    """A Slurm that tells of all but its reservations."""

    def __init__(self) -> None:
        self.asked = 0

    def jobs(self) -> list[Any]:
        """Return the recorded jobs."""
        return said("jobs")

    def nodes(self) -> list[Any]:
        """Return the recorded nodes."""
        return said("nodes")

    def partitions(self) -> list[Any]:
        """Return no partitions."""
        return []

    licenses = qos = associations = partitions

    def lists_subaccounts(self) -> bool:
        """Return what Slurm 22.05 does."""
        return False

    def enforced(self) -> frozenset[str]:
        """Return that nothing is."""
        return frozenset()

    def time_usage(self) -> str:
        """Return no usage."""
        return ""

    def reservations(self) -> list[Any]:
        """Raise an error."""
        self.asked += 1
        raise UnavailableError("slurmrestd: reservations: 500")

    def place(self, key: str, nodes: str) -> None:
        """Do nothing."""

    def hold(self, key: str) -> None:
        """Do nothing."""


def test_reservations_that_cannot_be_read() -> None:
    """A warning says so, the cluster is read, and they are asked for every ten seconds."""
    calls = Silent()
    slurm = Slurm(calls, Terms("hpcsched", 1000))
    states = [slurm.read(), slurm.read()]
    for state in states:
        assert state.outages == ()
        assert state.warnings == (
            "the reservations cannot be read, and are left to Slurm: slurmrestd: reservations: 500",
        )
    assert calls.asked == 1
