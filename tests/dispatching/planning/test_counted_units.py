"""Units that are all alike, counted by hand on two nodes of four cores."""

from hpcsched.dispatching.planning.node_choice import (
    ends_of,
    equal_units,
)
from hpcsched.testing import make_problem, make_system

SYSTEM = make_system(2, core=4)
TABLE = """
    job_id  units  run_time  start_time
    1       3      40        0
    2       2      5         2
    3       2      9         -
"""


def test_equal_units() -> None:
    """At 10 job 1 ends in 30; job 2, predicted to end at 7, is taken to end in a second."""
    problem = make_problem(SYSTEM, TABLE, now=10, aggregated=True)
    assert [(end, job.job_id) for end, job in ends_of(problem, overdue=True)] == [(11, 2), (40, 1)]
    assert equal_units(problem, overdue=True) == (3, 8, [(1, 2), (30, 3)], 31)
    assert equal_units(problem, overdue=False) == (3, 8, [(30, 3)], 30)
