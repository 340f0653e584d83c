"""A portfolio of CP dispatchers: the model and the solver of a round are chosen by its features.

Galleguillos (thesis 2020, section 6.6) proposes a dispatcher that selects the model with a track of
success on the class of the instance; CP 2021 (section 6), one that switches between two models.
Queue length and the ratio of requested to available resources are features of the thesis (section
6.5, figures 6.12 and 6.13), which calls symmetric requests the hard ones.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hpcsched.context import Context
from hpcsched.dispatching.decision import SOLVED, Decision
from hpcsched.dispatching.hyper.params import CpPortfolioParams, label_of
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.registration import builtin

LONG_QUEUE = 30
"""Number of queued jobs beyond which the thesis found one model behind the other."""

SYMMETRIC = 0.5
"""Share of jobs with a request like another one's, from which on a queue is symmetric."""

HETEROGENEOUS = 3
"""Number of requested resource types from which on a queue is heterogeneous."""


InstanceClass = tuple[bool, bool, bool, bool]
"""Whether the queue is long, whether it requests more of a resource type than is available, whether
it is heterogeneous, and whether it is symmetric."""


class InstanceFeatures(NamedTuple):
    """Features of a dispatching problem with queued jobs.

    Attributes
    ----------
    load
        Requested over available amount of the scarcest resource type; infinite where none is left.
    symmetry
        Share of jobs that request as many units of the same amounts as a job before them.
    """

    jobs: int
    load: float
    types: int
    symmetry: float

    def __str__(self) -> str:
        return (
            f"queue length {self.jobs}, load {self.load:.3g}, resource types {self.types},"
            f" symmetry {self.symmetry:.2g}"
        )

    @property
    def instance_class(self) -> InstanceClass:
        """Class of the problem."""
        return (
            self.jobs > LONG_QUEUE,
            self.load > 1,
            self.types >= HETEROGENEOUS,
            self.symmetry >= SYMMETRIC,
        )


def features_of(problem: DispatchingProblem) -> InstanceFeatures:
    """Return the features of a problem; its queue must not be empty."""
    units, requests = problem.units, problem.unit_requests
    requested = units @ requests
    if problem.free_slots is not None:
        # All jobs request the same of a slot, so that slots stand for each of its types.
        slots = sum(end - begin for begin, end in problem.free_slots)
        available = slots * requests[0]
    else:
        available = problem.availability.sum(axis=0)
    asked = requested > 0
    load = max(
        (
            amount / free if free else float("inf")
            for amount, free in zip(
                requested[asked].tolist(), available[asked].tolist(), strict=True
            )
        ),
        default=0.0,
    )
    kinds = {(job.units, job.unit_request) for job in problem.queue}
    jobs = len(problem.queue)
    return InstanceFeatures(jobs, load, int(asked.sum()), (jobs - len(kinds)) / jobs)


class CpMember(NamedTuple):
    """A member of the portfolio: its name, and the dispatcher."""

    label: str
    dispatcher: PlanningDispatcher


class Outcome(NamedTuple):
    """Success of a member in a round: 1 for a proof, 0.5 for another plan, 0 without a plan."""

    member: int
    success: float


class CpPortfolio:
    """Has one member decide each round: the one of most success lately on its class of problems.

    A member without an outcome among the last ones of a class counts as one of success, so that
    it is asked once the members before it succeed no longer. One member is asked in a round, so
    that the round has that member's own limits and takes no more than it does by itself.
    """

    def __init__(self, members: Sequence[CpMember], remembered: int) -> None:
        self._members = members
        self._remembered = remembered
        self._outcomes: dict[InstanceClass, deque[Outcome]] = {}
        self._present: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the members."""
        return tuple(member.label for member in self._members)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the decision of the member chosen for the problem."""
        features = features_of(problem)
        outcomes = self._outcomes.setdefault(
            features.instance_class, deque(maxlen=self._remembered)
        )
        successes = [_success(outcomes, member) for member in range(len(self._members))]
        most = max(successes)
        chosen = successes.index(most)
        label, dispatcher = self._members[chosen]
        decision = dispatcher.dispatch(problem)
        # Costs that depend on what has started so far count the starts of all members.
        for member, other in enumerate(self._members):
            if member != chosen:
                other.dispatcher.objective.add(problem, decision.starts)
        if decision.solver is not None:
            status = decision.solver.status
            success = 1.0 if status == "optimal" else 0.5 if status in SOLVED else 0.0
            outcomes.append(Outcome(chosen, success))
        if label == self._present:
            return decision
        self._present = label
        why = f"success {most:.2g} in such rounds lately: {features}"
        return decision._replace(chosen=label, because=why)


def _success(outcomes: Sequence[Outcome], member: int) -> float:
    """Return a member's mean success; 1 without an outcome."""
    own = [outcome.success for outcome in outcomes if outcome.member == member]
    return sum(own) / len(own) if own else 1.0


@builtin(
    "dispatcher",
    "cp-portfolio",
    CpPortfolioParams,
    summary="CP: chooses the model and the solver of each round by its features",
)
def make_cp_portfolio(params: CpPortfolioParams, context: Context) -> CpPortfolio:
    """Return `cp-portfolio`."""
    members = [
        CpMember(label_of(choice), context.make("dispatcher", choice)) for choice in params.members
    ]
    return CpPortfolio(members, params.remembered)
