"""The objectives that go by expected waits."""

import numpy as np
import pytest

from hpcsched.dispatching.cp.cp_dispatchers import ExpectedWaits
from hpcsched.testing import make_problem
from hpcsched.workload.job import WaitClass
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


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        # Queues 1 and 3; no partition; 1 and 5 units, of classes from 1 and from 3 on.
        ("queue", [30, 600]),
        ("partition", [60, 60]),
        ("units", [30, 600]),
    ],
)
def test_what_waits_are_expected_by(by: str, expected: list[int]) -> None:
    """The class of a job is its queue, its partition or its size; `other` holds without one."""
    jobs = make_problem(NODE, TABLE.replace("6            1", "6            5"), now=10).queue
    assert ExpectedWaits(60, {1: 30, 3: 600}, WaitClass(by)).of(jobs).tolist() == expected
