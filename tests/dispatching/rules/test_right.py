"""Every rule with every option, and every allocator, passes what plugins are tested with."""

import pytest

from hpcsched.testing import check_dispatcher
from tests.dispatching.rules.making import MAKERS, PLACERS, conservative, easy, slack


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MAKERS)
def test_rules(name, seed):
    """Replays pass the audit and can be repeated."""
    check_dispatcher(MAKERS[name], seeds=[seed])


ALLOCATORS = ("balanced", "weighted", "hybrid")


@pytest.mark.parametrize(
    ("make", "allocator"),
    [
        *((easy, allocator) for allocator in ALLOCATORS),
        (conservative, "weighted"),
        (slack, "hybrid"),
        pytest.param(conservative, "balanced", marks=pytest.mark.slow),
        pytest.param(conservative, "hybrid", marks=pytest.mark.slow),
        pytest.param(slack, "balanced", marks=pytest.mark.slow),
        pytest.param(slack, "weighted", marks=pytest.mark.slow),
    ],
)
def test_allocators(make, allocator):
    """What is placed stays within what is free, by each rule and each allocator."""
    assert allocator in PLACERS
    check_dispatcher(lambda: make(allocator=allocator), seeds=[2])
