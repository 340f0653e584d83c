"""The time in which each node is out of service, by hand."""

from hpcsched.system.outages import DownTime, Outage, down_time


def intervals(down: DownTime) -> list[tuple[int, int, int]]:
    """Return node, start and end of each interval."""
    return list(zip(down.node.tolist(), down.start.tolist(), down.end.tolist(), strict=True))


def test_overlapping_outages_of_a_node_are_one_interval() -> None:
    """Node 1 is down from 5 to 20 by two outages that overlap, and until 25 by one that follows.

    An outage within another changes nothing; a gap of one second parts two intervals.
    """
    outages = [
        Outage(40, 50, (0, 1), "maintenance"),
        Outage(20, 25, (1,), "failure"),
        Outage(5, 15, (1,), "failure"),
        Outage(10, 20, (1, 3), "reservation"),
        Outage(12, 13, (3,), "failure"),
        Outage(51, 60, (0,), "failure"),
    ]
    down = down_time(outages)
    assert intervals(down) == [
        (0, 40, 50), (0, 51, 60), (1, 5, 25), (1, 40, 50), (3, 10, 20),
    ]  # fmt: skip


def test_no_outages() -> None:
    """There are no intervals, and no seconds in them."""
    down = down_time([])
    assert intervals(down) == []
    assert down.within(0, 100).tolist() == []


def test_seconds_between_two_instants() -> None:
    """From 10 to 42: none of an interval before, 10 of one that is cut, 2 of another."""
    down = down_time(
        [Outage(0, 10, (0,), "failure"), Outage(5, 20, (1,), "failure"),
         Outage(40, 50, (2,), "failure"), Outage(60, 70, (3,), "failure")]
    )  # fmt: skip
    assert down.within(10, 42).tolist() == [0, 10, 2, 0]
