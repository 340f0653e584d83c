"""The protocol of a dispatcher."""

from typing import Protocol

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem


class Dispatcher(Protocol):
    """Answers a dispatching problem with a decision; sees no future and no real run time."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Say which queued jobs start now, and where."""
