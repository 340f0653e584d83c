"""A job's demand: its largest share of the system, scaled to a whole number."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.system import NodeGroup, System
from tests.builders import alike
from tests.strategies import mixed_systems, tries


def share(system, units, request):
    """Return the largest share of the system exactly."""
    totals = [
        sum(group.count * group.resources[name] for group in system.groups)
        for name in system.resource_types
    ]
    return max(
        Fraction(units * amount, total) if total else Fraction(0)
        for amount, total in zip(request, totals, strict=True)
    )


@tries(200)
@given(data=st.data())
def test_demand_is_an_exact_share(data):
    """Demand over the demand of the full system is the share, with nothing lost."""
    system = data.draw(mixed_systems())
    request = tuple(data.draw(st.integers(0, total)) for total in system.totals)
    units = data.draw(st.integers(1, 50))
    demand = system.demand(units, request)
    assert type(demand) is int
    assert Fraction(demand, system.full_demand) == share(system, units, request)


def test_equal_shares_of_unlike_types_tie():
    """A third of the cores, of the memory and of the accelerators are the same demand."""
    system = alike(3, core=7, mem=10, gpu=1)
    thirds = [
        system.demand(7, (1, 0, 0)),
        system.demand(1, (0, 10, 0)),
        system.demand(1, (0, 0, 1)),
    ]
    assert len(set(thirds)) == 1
    assert 3 * thirds[0] == system.full_demand


def test_one_resource_type():
    """With one resource type the demand is what the job asks for."""
    assert alike(100, core=4).demand(3, (2,)) == 6


def test_a_type_that_no_node_has_counts_nothing():
    """A resource type of which there is none adds nothing to a demand."""
    system = System((NodeGroup("node", 2, {"core": 4, "gpu": 0}),))
    assert system.demand(2, (1, 0)) == 2
