"""Decisions: the answers of dispatchers to dispatching problems."""

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from hpcsched.system.space import NodeAllocation


ReasonKind = Literal[
    "in_order",
    "backfilled",
    "planned",
    "no_room",
    "reserved_for",
    "behind",
    "beyond_depth",
    "solver_postponed",
    "not_planned",
    "limit",
    "dependency",
    "outage",
    "recorded_later",
    "begin_time",
]
"""Kind of a reason.

For a job that starts: `in_order`, no earlier job waits; `backfilled`, it passes `job`, the first
that waits; `planned`, the plan starts it now. For a job that waits: `no_room`, it does not fit now;
`reserved_for`, it fits, but starting it would delay `job`; `behind`, `job` waits and none may pass
it; `beyond_depth`, the limit on reservations was reached before it; `solver_postponed`, the plan
starts it later although it may fit; `not_planned`, the plan leaves it out; `limit`, the limit named
in `detail` blocks it; `dependency`, it has to wait for `job` to end, or for its think time after
that; `outage`, nodes are out of service, or will be too soon, and the others are too few: with a
`time`, the job is planned for the end of announced outages, otherwise it is left out of plans;
`recorded_later`, the log that is followed starts it later; `begin_time`, it asks to start later.
"""

REASON_KINDS: tuple[ReasonKind, ...] = get_args(ReasonKind)
STARTS: frozenset[ReasonKind] = frozenset({"in_order", "backfilled", "planned"})
"""The kinds of reasons for a start."""


class Reason(NamedTuple):
    """Reason why one queued job starts now, or waits.

    Attributes
    ----------
    job
        Number of the other job that the kind refers to; None if it refers to none.
    time
        Planned start, in seconds, of a reservation or a plan; never binding.
    detail
        Further explanation, such as the name of a limit or a shared resource.
    """

    job_id: int
    kind: ReasonKind
    job: int | None = None
    time: int | None = None
    detail: str = ""


class Start(NamedTuple):
    """Start of a job in the present round, with its allocation.

    Attributes
    ----------
    allocation
        Nodes of all its units, such as `Workspace.place` returns or `NodeAllocation`.
    """

    job_id: int
    allocation: "NodeAllocation"


SolverStatus = Literal[
    "optimal", "feasible", "unknown", "infeasible", "overflow", "overrun", "failed", "invalid"
]
"""Outcome of a solver call.

`optimal`: proved optimal; `feasible`: a solution without that proof; `unknown`: no solution within
the limits; `infeasible`: reported to have no solution; `overflow`: numbers too large for the
solver, which was not called; `overrun`: terminated from outside, as it exceeded its limits;
`failed`: an error or a dead process; `invalid`: the solution violates a rule of the problem.
"""

SOLVER_STATUSES: tuple[SolverStatus, ...] = get_args(SolverStatus)

PROCESS = "the solver's process"
"""Begin of the reason of a call whose solver's process died, or did not start."""

SOLVED: tuple[SolverStatus, ...] = ("optimal", "feasible")
"""Statuses of a solver that has a solution, the best first."""


class SolverCall(NamedTuple):
    """Statistics of one solver call.

    Times are real seconds.

    Attributes
    ----------
    objective
        Objective value of the model, in the objective's own unit; None without a solution.
    bound
        Bound on the objective, in the same unit; None if the solver has none.
    transform_time
        Time to translate the model for the solver.
    branches
        Number of decisions in the search; None if the solver does not report it.
    fails
        Number of dead ends (conflicts, in solvers that learn); None if not reported.
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
    """Jobs to start now, and jobs to reject; all other queued jobs wait.

    Attributes
    ----------
    fallback
        Whether the dispatcher failed to answer as intended and a simpler rule did instead.
    solver
        Statistics of the solver call; None if no solver was called.
    reasons
        One reason per queued job, in any order, if the problem requests reasons.
    chosen
        Name of the dispatcher that the round was handed to, in the first round and where it
        changes.
    call_again_at
        Time, in seconds after now, at which the dispatcher is called again if jobs wait then, even
        without an event; None: at the next event only. Each decision replaces that of the one
        before. Live dispatching, which calls at its own ticks, does not look at it.
    """

    starts: tuple[Start, ...] = ()
    rejected: tuple[int, ...] = ()
    fallback: bool = False
    solver: SolverCall | None = None
    reasons: tuple[Reason, ...] = ()
    chosen: str | None = None
    because: str | None = None
    call_again_at: int | None = None


NOTHING = Decision()
"""The decision to start nothing and to reject nothing."""
