"""Jobs may later use nodes that outages close to them now, but none that have failed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.planning import node_choice as later_nodes
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.node_choice import FutureEligibility
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.outages import Outage
from hpcsched.testing import make_problem, make_system
from tests.builders import changed_request

TABLE = """
job_id  submit_time  units  requested_time  start_time
1       0            1      100             0
2       1            1      50              -
3       1            1      50              -
4       1            1      5               -
"""
NOW = Outage(0, 20, (1,), "maintenance")
SOON = Outage(30, 40, (2,), "reservation")


def shown(
    outages: Sequence[Outage], failed: Sequence[int] = (), own: frozenset[int] | None = None
) -> DispatchingProblem:
    """Return a problem at 1 of four nodes, the first of them in use, as dispatchers are shown it.

    `failed` are nodes that have failed; `own` are those that jobs are bound to.
    """
    problem = make_problem(make_system(4), TABLE, now=1)
    down = {*failed, *(n for o in outages for n in o.nodes if o.start <= 1)}
    assert problem.free_amounts is not None
    free = problem.free_amounts.copy()
    free[:, list(down)] = 0
    queue = []
    for job in problem.queue:
        end = 1 + job.predicted_run_time
        soon = {n for o in outages for n in o.nodes if 1 < o.start < end}
        open_ = frozenset(range(4)) - down - soon
        request = job.request._replace(allowed_nodes=open_ if own is None else open_ & own)
        job_ = changed_request(job.job, allowed_nodes=own)
        queue.append(job._replace(job=job_, request=request))
    return problem._replace(queue=tuple(queue), free_amounts=free, outages=tuple(outages))


def planned(problem: DispatchingProblem) -> Any:
    """Return a list plan, with nodes of the system, `[J, N]`, if all are in the model."""
    selection = select(
        problem,
        problem.queue,
        SelectionOptions("all", 9, None),
        AF().planned_cost,
    )
    assert selection is not None and selection.nodes is not None
    plan = ListPlanner(selection.data).plan(range(selection.data.job_count))
    placed = np.zeros((len(problem.queue), 4), dtype=np.int64)
    placed[:, selection.nodes] = plan.placed
    return plan.starts.tolist(), placed.argmax(axis=1).tolist()


def test_a_node_is_back_when_it_is_said_to_be() -> None:
    """Node 3 takes job 2 now, node 1 job 3 when it is back, and node 2 job 4 before it goes."""
    assert planned(shown([NOW, SOON])) == ([0, 19, 0], [3, 1, 2])


def test_a_failed_node_is_not_counted_on() -> None:
    """Node 1 has failed, and nobody knows when it is back; so job 3 waits for node 2."""
    starts, nodes = planned(shown([SOON], failed=[1]))
    assert (starts, nodes) == ([0, 39, 0], [3, 2, 2])


def test_a_job_that_is_bound_to_nodes_may_use_all_of_them_later() -> None:
    """Those of them that are closed now as well, but none that have failed."""
    own = frozenset({0, 1, 3})
    problem = shown([NOW, SOON], own=own)
    later = FutureEligibility(problem)
    assert [job.request.allowed_nodes for job in problem.queue] == [frozenset({0, 3})] * 3
    assert [later.request(job).allowed_nodes for job in problem.queue] == [own] * 3
    assert later.back.tolist() == [1, 20, 1, 1]
    # Node 1 is never counted on: a plan has job 3 wait for node 3, although it could go there.
    failed = shown([SOON], failed=[1], own=own)
    later = FutureEligibility(failed)
    assert [later.request(job).allowed_nodes for job in failed.queue] == [frozenset({0, 3})] * 3


def test_a_bound_job_is_planned_on_its_node_that_comes_back() -> None:
    """Job 2 takes node 3 now; job 3 node 1 when it is back, at 20; job 4 would wait for it too.

    It goes to node 3 at 51 or to node 1 at 70; so it is planned on node 3, 50 s from now.
    """
    starts, nodes = planned(shown([NOW, SOON], own=frozenset({1, 3})))
    assert (starts, nodes) == ([0, 19, 50], [3, 1, 3])


def test_jobs_that_end_after_what_is_looked_at_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a plan could start them now and have them run into an outage that it leaves out."""
    problem = shown([NOW, Outage(30, 40, (1,), "maintenance"), SOON._replace(start=90, end=91)])
    for most, expected in ((2, [None, None, None]), (1, [frozenset({0, 2, 3})] * 2 + [None])):
        monkeypatch.setattr(later_nodes, "MOST", most)
        requests = [FutureEligibility(problem).request(job) for job in problem.queue]
        assert [request.allowed_nodes for request in requests] == expected
