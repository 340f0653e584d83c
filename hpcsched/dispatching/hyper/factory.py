"""What builds the dispatcher that tunes itself."""

from typing import Any, Protocol

from hpcsched.dispatching.hyper.choosing import first_of
from hpcsched.dispatching.hyper.dispatcher import Hyper, Member, Portfolio
from hpcsched.dispatching.hyper.params import HyperParams, label_of
from hpcsched.dispatching.hyper.rehearsal import Rehearsal
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.objectives import BoundedSlowdown, Slowdown

FIRST = ("order-search", "easy")
"""What decides at first, if it is in the portfolio."""

SHORT_JOBS_FIRST = ("list order=spf", *FIRST)
"""What decides at first by slowdown, unless predictions are found not to be exact."""


class Context(Protocol):
    """What the factory needs of an assembly."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


def make_hyper(params: HyperParams, context: Context, rehearsal: Rehearsal) -> Hyper:
    """Return `hyper`."""
    members = [
        Member(choice, label_of(choice), context.make("dispatcher", choice))
        for choice in params.portfolio
    ]
    labels = [member.label for member in members]
    first = if_inexact = first_of(labels, FIRST)
    if params.first is not None:
        first = if_inexact = params.first - 1
    elif isinstance(context.objective, Slowdown | BoundedSlowdown):
        first = first_of(labels, SHORT_JOBS_FIRST)
    return Hyper(Portfolio(members, first, if_inexact), rehearsal, context.objective, params)
