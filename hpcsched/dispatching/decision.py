"""The decision: what a dispatching round answers."""

from typing import Literal, NamedTuple, get_args

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.system.allocation import Allocation


class Start(NamedTuple):
    """A job to start now, and where."""

    job_id: int
    allocation: Allocation


SolverStatus = Literal[
    "optimal", "feasible", "unknown", "infeasible", "overflow", "overrun", "failed", "invalid"
]
"""What came of asking a solver.

`optimal` is proved, `feasible` not; `unknown`: no solution within the limits, `infeasible`: said to
have none; `overflow`: numbers too large for the solver, which was not asked; `overrun`: broken off
from outside, as it did not keep its limits; `failed`: it raised an error, or its process died;
`invalid`: its answer broke a rule of the problem.
"""

SOLVER_STATUSES: tuple[SolverStatus, ...] = get_args(SolverStatus)

SOLVED: tuple[SolverStatus, ...] = ("optimal", "feasible")
"""The statuses of a solver that has a plan, the best first."""


class SolverCall(NamedTuple):
    """How a solver fared in a round.

    `jobs` and `variables` count the jobs and the decision variables of the model. `objective` and
    `bound` are those of the model, in the objective's own unit, where there are any. Times are in
    real seconds: to build the model, to put it into the solver's terms, and to solve it. `why` says
    more of a status, in words. `branches` counts the decisions of the search, and `fails` its dead
    ends, which solvers that learn from them call conflicts; None where the solver does not tell.
    """

    status: SolverStatus
    jobs: int
    variables: int
    objective: float | None
    bound: float | None
    build_time: float
    transform_time: float
    solve_time: float
    why: str = ""
    branches: int | None = None
    fails: int | None = None


class Decision(NamedTuple):
    """Jobs to start now, and jobs to refuse for good; the other queued jobs wait.

    `fallback` says that the dispatcher could not answer as it should and that a simpler rule did.
    `solver` tells of the solver, if one was asked. `reasons`, where the problem wants them, has one
    for each job that was queued, in any order. A dispatcher that hands rounds on to others says in
    the first round, and where that changes, which of them is `chosen`, and `because` of what.
    """

    starts: tuple[Start, ...] = ()
    rejected: tuple[int, ...] = ()
    fallback: bool = False
    solver: SolverCall | None = None
    reasons: tuple[Reason, ...] = ()
    chosen: str | None = None
    because: str | None = None


NOTHING = Decision()
"""Let every job wait."""
