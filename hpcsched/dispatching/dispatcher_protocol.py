"""Protocol of a dispatcher."""

from typing import Protocol, runtime_checkable

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob


# Checked by method, so that classes of plugins need no base class.
@runtime_checkable
class JobEventObserver(Protocol):
    """Protocol of an object that is notified of every start and end of a job.

    Dispatchers, queue orders and allocators that have both methods are notified, once for each
    event, in the order of simulated events, before the next problem is put to them. A problem that
    is solved by itself, as a recorded one is, comes without a history: it contains the running
    jobs, not those that have ended.
    """

    def job_started(self, job: RunningJob) -> None:
        """Record the start of a job, at its start time.

        Parameters
        ----------
        job
            The job, with its start and its estimated end in seconds.
        """

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Record the end of a job.

        Parameters
        ----------
        end_time
            End of the job, in seconds.
        """


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
