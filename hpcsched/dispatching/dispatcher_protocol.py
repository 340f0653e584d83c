"""Protocol of a dispatcher."""

from typing import Protocol

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem


class Dispatcher(Protocol):
    """Protocol of a dispatcher, which sees neither the future nor real run times.

    Examples
    --------
    A dispatcher that starts nothing and rejects nothing:

    >>> class Idle:
    ...     def dispatch(self, problem: DispatchingProblem) -> Decision:
    ...         return Decision()
    """

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Decide which queued jobs start now, and on which nodes.

        Returns
        -------
        Decision
            Jobs to start and to reject; all others wait. A decision that cannot be carried out
            ends the run with a `DecisionError`: nothing is repaired.
        """
