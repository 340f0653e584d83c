"""Pressure on resource types by hand."""

import numpy as np
import pytest

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.rules.allocators import Pressure
from hpcsched.testing import make_problem, make_system

SYSTEM = make_system(2, core=4, gpu=1)


def test_requested_and_in_use_over_the_total() -> None:
    """Cores: (2 · 1 + 3 · 2) / 8 = 1, GPUs: 2 · 1 / 2 = 1; job 1 runs and job 2 waits."""
    problem = make_problem(
        SYSTEM,
        """
        job_id  units  run_time  core  gpu  start_time
        1       2      9         1     1    0
        2       3      9         2     0    -
        """,
    )
    room = Room(np.zeros(2, dtype=np.int64), SYSTEM.capacity.T, (1, 0), SYSTEM, problem)
    assert Pressure().of(room) == [1.0, 1.0]


def test_each_round_has_its_own() -> None:
    """With 4 of 8 cores requested it is 0.5, and 2 of 8 in the next round are 0.25."""
    pressure = Pressure()
    for units, expected in ((4, 0.5), (2, 0.25)):
        problem = make_problem(SYSTEM, f"job_id units run_time core\n1 {units} 9 1")
        room = Room(np.zeros(2, dtype=np.int64), SYSTEM.capacity.T, (1, 0), SYSTEM, problem)
        assert pressure.of(room) == pytest.approx([expected, 0.0])


def test_outside_of_a_round() -> None:
    """Nothing is known of jobs, and all types count as fully requested."""
    room = Room(np.zeros(2, dtype=np.int64), SYSTEM.capacity.T, (1, 0), SYSTEM)
    assert Pressure().of(room) == [1.0, 1.0]
