"""Surrogate objectives change costs in view of jobs that are yet to come."""

from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.objectives import AF, AWF, PSF, BoundedSlowdown, Makespan, Slowdown
from hpcsched.dispatching.planning.search_objective import DinkelbachParameter
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.search.order_search import (
    SurrogateObjective,
    surrogate_of,
)
from hpcsched.dispatching.search.params import SurrogateParams
from hpcsched.testing import make_problem, make_system


@pytest.fixture
def problem() -> DispatchingProblem:
    """Return three jobs of 30 s, 600 s and 6000 s, and of 1, 2 and 4 cores, at time 100."""
    return make_problem(
        make_system(4, core=1),
        """
        job_id  submit_time  units  core  requested_time
        1       0            1      1     30
        2       50           2      1     600
        3       100          4      1     6000
        """,
        now=100,
    )


def surrogated(objective: Any, surrogate: SurrogateParams) -> SurrogateObjective:
    """Return the surrogate of an objective."""
    return SurrogateObjective(objective.planned_cost, surrogate)


@pytest.mark.parametrize("objective", [Slowdown(), BoundedSlowdown(), AF(), AWF(), Makespan()])
def test_plainly_the_cost_is_the_objective_s(problem: DispatchingProblem, objective: Any) -> None:
    """The default parameters change nothing."""
    queue = problem.queue
    plain = surrogated(objective, SurrogateParams()).cost(queue, 100)
    cost = objective.planned_cost(queue, 100)
    assert np.array_equal(plain.weights, cost.weights)
    assert np.array_equal(plain.free, cost.free)
    assert plain.constant == cost.constant


def test_weights_grow_with_area(problem: DispatchingProblem) -> None:
    """A power of 1/2: four times the area, twice the weight."""
    cost = surrogated(AF(), SurrogateParams(area_exponent=0.5)).cost(problem.queue, 100)
    areas = np.array([30, 1200, 24000])
    assert cost.weights[0] == pytest.approx(np.sqrt(areas / areas.mean()))


def test_a_long_queue_is_served_by_area_over_weight(problem: DispatchingProblem) -> None:
    """The least area first for AF."""
    assert [job.job_id for job in surrogated(AF(), SurrogateParams()).sort(problem)] == [1, 2, 3]
    turned = problem._replace(queue=problem.queue[::-1])
    assert [job.job_id for job in surrogated(AF(), SurrogateParams()).sort(turned)] == [1, 2, 3]


def test_a_ratio_is_served_in_order_of_arrival(problem: DispatchingProblem) -> None:
    """A ratio of sums has no weights to go by."""
    served = SurrogateObjective(DinkelbachParameter(PSF(), 0.8).cost, surrogate_of(PSF()))
    assert served.sort(problem) == problem.queue


def test_what_suits_an_objective() -> None:
    """Only slowdowns are discounted; a sum of objectives has only a warm start."""
    objectives = (Slowdown(), BoundedSlowdown(), AF(), AWF(), PSF())
    constants = [surrogate_of(objective).discount_time_constant for objective in objectives]
    assert constants == [3600, 3600, None, None, None]
    assert surrogate_of(Makespan()) == SurrogateParams(warm_start=True)
