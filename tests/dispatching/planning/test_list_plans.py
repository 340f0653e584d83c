"""List plans of selected jobs, in the orders of whole queues."""

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.plan_improver import orders_of
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.rules.orders import KEYS, ArrivalOrder, ColumnKeyOrder
from hpcsched.testing import make_problem, make_system


def test_queue_orders_see_jobs_as_they_arrived() -> None:
    """A selection has its jobs by priority; of equals the first to come stays first."""
    problem = make_problem(
        make_system(2, core=1),
        """
        job_id  submit_time  units  core  requested_time
        1       0            1      1     500
        2       1            1      1     100
        3       2            1      1     100
        """,
        now=2,
    )
    by_priority = problem.queue[::-1]
    selection = select(
        problem,
        by_priority,
        SelectionOptions("all", 10, None),
        AF().planned_cost,
    )
    assert selection is not None
    orders = orders_of(problem, selection, [ArrivalOrder(), ColumnKeyOrder(KEYS["sjf"])])
    ids = [[selection.jobs[i].job_id for i in order] for order in orders]
    assert ids == [[1, 2, 3], [2, 3, 1]]
