"""The slot weight method, on cases worked by hand."""

import pytest

from hpcsched.workload.synthetic.submission_cycle import SlotWalk

WEIGHTS = [1.0, 0.5, 0.0, 2.0]


def walk(slot=0, share=0.0):
    """Return a walk over days of four slots, and the list of slots entered."""
    entered = []

    def weight(slot):
        entered.append(slot)
        return WEIGHTS[slot % 4]

    return SlotWalk(weight, slot, share), entered


def test_payments():
    """Each payment goes on where the last one ended; slots that cost nothing are passed."""
    way, entered = walk()
    assert way.pay(0.25) == 0.25  # a quarter of the first slot, which costs 1
    assert way.pay(0.0) == 0.25
    assert way.pay(1.0) == 1.5  # 0.75 to its end, 0.25 of the 0.5 that the second costs
    assert way.pay(0.25) == 3.0  # exactly to its end: the next that costs something
    assert entered == [0, 1, 2, 3]
    assert way.pay(1.0) == 3.5
    assert way.pay(3.5 + 1.0) == 8.0  # the rest of the day, all of the next, to the one after
    assert entered == list(range(9))
    assert (way.slot, way.share) == (8, 0.0)


def test_beginning_within_a_slot():
    """A share of its price has been paid."""
    way, _ = walk(slot=1, share=0.5)
    assert way.pay(0.125) == 1.75
    assert way.share == 0.75


@pytest.mark.parametrize("points", [0.1, 0.7, 3.3])
def test_a_day_costs_its_weights(points):
    """However it is paid."""
    way, _ = walk()
    for _ in range(100):
        reached = way.pay(points)
    days, rest = divmod(100 * points, sum(WEIGHTS))
    assert reached == pytest.approx(4 * days + walk()[0].pay(rest), abs=1e-6)
