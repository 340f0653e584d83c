"""Protocol of a dispatcher, and of one with compiled code."""

from typing import Protocol, runtime_checkable

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

        Parameters
        ----------
        problem
            Snapshot of the queue, the running jobs and the system.

        Returns
        -------
        Decision
            Jobs to start and to reject; all others wait. A decision that cannot be carried out
            ends the run with a `DecisionError`: nothing is repaired.
        """


@runtime_checkable
class PreparesCode(Protocol):
    """Protocol of a dispatcher that runs compiled code of its own."""

    def prepare_code(self) -> None:
        """Compile the code, or load it; called before the first round of a replay.

        Decisions must be the same without this call.
        """


def prepare_code(dispatcher: Dispatcher) -> None:
    """Compile a dispatcher's code, or load it, so that no round waits for it."""
    if isinstance(dispatcher, PreparesCode):
        dispatcher.prepare_code()
