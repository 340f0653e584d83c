"""Observer that checks a dispatcher's reasons against its starts."""

from collections.abc import Sequence

from hpcsched.dispatching.decision_reasons import STARTS, Reason
from hpcsched.dispatching.problem import RunningJob
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord


class ReasonCheck(Observer):
    """Observer that checks reasons against starts.

    The simulator checks that a reason is about a queued job of its own. A dispatcher need not give
    any.

    Raises
    ------
    AssertionError
        If a reason says that a job starts and it does not, or the reverse.
    """

    def __init__(self) -> None:
        self._started: set[int] = set()

    def job_started(self, job: RunningJob) -> None:
        """Record the starts of a round."""
        self._started.add(job.job_id)

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Check the reasons of a round."""
        for reason in reasons:
            starts = reason.job_id in self._started
            if starts != (reason.kind in STARTS):
                raise AssertionError(
                    f"round {record.round}: the reason of job {reason.job_id} is {reason.kind!r},"
                    f" and the job {'starts' if starts else 'does not start'}"
                )
        # Starts are told before the reasons of their round, hence the set is of one round.
        self._started.clear()
