"""Units that are all alike, counted by hand on two nodes of four cores."""

from hpcsched.dispatching.planning.node_choice import (
    can_be_counted,
    counted_units,
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


def test_units_on_nodes() -> None:
    """Units of 2 cores: node 0 has 0 cores free, node 1 has 3, which are 1 unit.

    Job 2 holds a core of each node. After it 1 and 4 cores are free: 2 units, one more. Job 1 holds
    3 cores of node 0: after it 4 and 4 are free, 2 units more.
    """
    problem = make_problem(
        SYSTEM,
        """
        job_id  units  run_time  start_time  core
        1       3      40        0           1
        2       2      5         2           1
        3       2      9         -           2
        """,
        now=3,
    )
    assert counted_units(problem, overdue=True) == (1, 4, [(4, 1), (37, 2)], 41)


def test_only_jobs_of_one_shape_can_be_counted() -> None:
    """Different amounts per unit, whole nodes and one unit per node cannot."""
    header = "job_id units run_time core exclusive one_unit_per_node\n"
    for rows, counted in (
        ("1 1 9 2 no no\n2 5 3 2 no no", True),
        ("1 1 9 2 no no\n2 5 3 1 no no", False),
        ("1 1 9 2 yes no", False),
        ("1 1 9 2 no yes", False),
    ):
        assert can_be_counted(make_problem(SYSTEM, header + rows)) == counted
