"""Outages of nodes, by hand."""

from hpcsched.system.outages import Outage, node_numbers
from hpcsched.system.system import NodeGroup, System


def test_what_is_announced_and_what_outages_are_called() -> None:
    """Failures come without notice; a name follows the kind."""
    weekly = Outage(0, 5, (0,), "maintenance", "weekly")
    failure = Outage(0, 5, (0,), "failure")
    course = Outage(0, 5, (0,), "reservation", "course")
    assert [one.announced for one in (weekly, failure, course)] == [True, False, True]
    assert [one.label for one in (weekly, failure, course)] == [
        "maintenance weekly", "failure", "reservation course",
    ]  # fmt: skip


def test_numbers_of_nodes() -> None:
    """Names count within a group, numbers over all groups; both agree with the system."""
    system = System((NodeGroup("thin", 2, {"core": 1}), NodeGroup("fat", 1, {"core": 1})))
    numbers = node_numbers(system)
    assert numbers == {"thin-0": 0, "thin-1": 1, "fat-0": 2}
    assert {system.node_name(number): number for number in numbers.values()} == numbers
