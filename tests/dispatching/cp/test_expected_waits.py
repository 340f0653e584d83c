"""The objectives that go by expected waits."""

import numpy as np
import pytest

from hpcsched.dispatching.cp.expected_waits import ExpectedWaits
from hpcsched.testing import make_problem
from tests.builders import alike

NODE = alike(1, core=8)
# Job 1 has waited for 10 s and starts in 5, job 2 for 4 s and starts now.
TABLE = """
    job_id  submit_time  units  requested_time  queue
    1       0            1      8               1
    2       6            1      8               3
"""


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        # 600 s are the longest of all: 600/30 · 15 + 600/60 · 4.
        (ExpectedWaits(60, {1: 30, 2: 600}), 340),
        # 60 s are: 60/30 · 15 + 4.
        (ExpectedWaits(60, {1: 30}), 34),
        # All are expected to wait alike: 15 + 4.
        (ExpectedWaits(60), 19),
    ],
)
def test_hcp_weighs_waits_by_the_longest_expected_wait(waits, expected):
    """Each wait counts max(ewt) / ewt times; jobs of queue 3 are expected to wait for 60 s."""
    jobs = make_problem(NODE, TABLE, now=10).queue
    cost = waits.hcp_cost(jobs, 10)
    assert cost.value(np.array([5, 0]), np.array([8, 8])) == pytest.approx(expected)
