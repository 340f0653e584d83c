"""How many units fit is worked out into an array of its own."""

import numpy as np
import pytest

from hpcsched.system.space import NodeSpace, units_that_fit
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job


@pytest.mark.parametrize("amount", [1, 2])
def test_what_fits_does_not_share_memory_with_what_is_free(amount: int) -> None:
    """Changing the answer changes nothing of the space that was asked."""
    system = System((NodeGroup("node", 3, {"core": 4}),))
    space = NodeSpace(system)
    fits = units_that_fit(system, space.available, Job(1, 0, Request(1, (amount,)), 10))
    assert not np.shares_memory(fits, space.available)
