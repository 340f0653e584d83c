"""Free amounts of shared resources during a round, by hand."""

from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import open_workspace
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem

POWER = SharedResource("power", 60, Draw({"core": 10}), (Change(20, 30),))
SYSTEM = System((NodeGroup("node", 2, {"core": 4}),), shared_resources=(POWER,))
PROBLEM = make_problem(
    SYSTEM,
    """
    job_id  units  run_time
    1       4      10
    2       2      10
    3       3      10
    4       4      30
    """,
)


def test_jobs_that_start_leave_less() -> None:
    """Job 1 draws 40 of 60; 20 are left, enough for job 2 with 20, not for job 3 with 30."""
    shared = open_workspace(PROBLEM, FirstFit())
    first, second, third, _ = PROBLEM.queue
    assert shared.lacking(third) == ""
    assert shared.place(first) == NodeAllocation((0,), (4,))
    assert shared.lacking(second) == ""
    assert shared.lacking(third) == "shared resource power"


def test_a_later_change_counts_for_jobs_that_run_until_then() -> None:
    """From 20 on there are 30: job 4 draws 40 until 30, job 1 as much until 10 only."""
    shared = open_workspace(PROBLEM, FirstFit())
    assert shared.lacking(PROBLEM.queue[0]) == ""
    assert shared.lacking(PROBLEM.queue[3]) == "shared resource power"
