"""Every rule with every option, and every allocator, passes what plugins are tested with."""

import pytest

from hpcsched.testing import check_dispatcher
from tests.dispatching.rules.making import MAKERS, PLACERS, conservative, easy, slack


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MAKERS)
def test_rules(name, seed):
    """Replays pass the audit and can be repeated."""
    check_dispatcher(MAKERS[name], seeds=[seed])


@pytest.mark.parametrize("allocator", ["balanced", "weighted", "hybrid"])
@pytest.mark.parametrize("make", [easy, conservative, slack])
def test_allocators(make, allocator):
    """What is placed stays within what is free."""
    assert allocator in PLACERS
    check_dispatcher(lambda: make(allocator=allocator), seeds=[2])
