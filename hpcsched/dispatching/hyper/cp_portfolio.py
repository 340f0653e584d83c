"""A portfolio of CP dispatchers: the model and the solver of a round are chosen by its features.

Galleguillos (thesis 2020, section 6.6) proposes a dispatcher that selects the model with a track of
success on the class of the instance; CP 2021 (section 6), one that switches between two models.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hpcsched.context import Context
from hpcsched.dispatching.decision import SOLVED, Decision, SolverCall
from hpcsched.dispatching.hyper.instance_features import (
    InstanceClass,
    InstanceFeatures,
    features_of,
)
from hpcsched.dispatching.hyper.params import CpPortfolioParams, label_of
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.registration import builtin


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
        chosen, why = self._choose(features)
        label, dispatcher = self._members[chosen]
        decision = dispatcher.dispatch(problem)
        # Costs that depend on what has started so far count the starts of all members.
        for member, other in enumerate(self._members):
            if member != chosen:
                other.dispatcher.objective.add(problem, decision.starts)
        if decision.solver is not None:
            self._of_class(features).append(Outcome(chosen, _success_of(decision.solver)))
        if label == self._present:
            return decision
        self._present = label
        return decision._replace(chosen=label, because=why)

    def _choose(self, features: InstanceFeatures) -> tuple[int, str]:
        """Return the member to decide, and the reason."""
        outcomes = self._of_class(features)
        successes = [_success(outcomes, member) for member in range(len(self._members))]
        most = max(successes)
        return successes.index(most), f"success {most:.2g} in such rounds lately: {features}"

    def _of_class(self, features: InstanceFeatures) -> deque[Outcome]:
        """Return the last outcomes of the class of a problem."""
        return self._outcomes.setdefault(features.instance_class, deque(maxlen=self._remembered))


def _success(outcomes: Sequence[Outcome], member: int) -> float:
    """Return a member's mean success; 1 without an outcome."""
    own = [outcome.success for outcome in outcomes if outcome.member == member]
    return sum(own) / len(own) if own else 1.0


def _success_of(call: SolverCall) -> float:
    """Return the success of a call."""
    if call.status not in SOLVED:
        return 0.0
    return 1.0 if call.status == "optimal" else 0.5


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
