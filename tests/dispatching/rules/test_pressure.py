"""Pressure on resource types by hand."""

from hpcsched.dispatching.rules.allocators import pressure_in
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
    assert pressure_in(problem) == [1.0, 1.0]
