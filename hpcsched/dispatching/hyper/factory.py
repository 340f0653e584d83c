"""What builds the dispatcher that tunes itself."""

from typing import Any, Protocol

from hpcsched.dispatching.hyper.choosing import first_of
from hpcsched.dispatching.hyper.dispatcher import Hyper, Member
from hpcsched.dispatching.hyper.params import HyperParams, label_of
from hpcsched.dispatching.hyper.rehearsal import Rehearsal
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.objectives import BoundedSlowdown, Slowdown

SHORT_JOBS_FIRST = ("list order=spf", "easy order=spf", "easy order=sjf")
"""What decides at first by slowdown."""

SEARCH = ("order-search", "easy")
"""What decides at first by any other objective."""


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
    if params.first is not None:
        first = params.first - 1
    else:
        by_slowdown = isinstance(context.objective, Slowdown | BoundedSlowdown)
        preferred = SHORT_JOBS_FIRST if by_slowdown else SEARCH
        first = first_of([member.label for member in members], preferred)
    return Hyper(members, first, rehearsal, context.objective, params)
