"""An observer that checks the reasons that a dispatcher gives against what it does."""

from collections.abc import Sequence

from hpcsched.dispatching.problem import RunningJob
from hpcsched.dispatching.reasons import STARTS, Reason
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord


class ReasonCheck(Observer):
    """Raises AssertionError where a reason says that a job starts and it does not, or the reverse.

    That a reason is about a queued job, of which there is no other one, is checked by the engine. A
    dispatcher need not give any.
    """

    def __init__(self) -> None:
        self._started: set[int] = set()

    def job_started(self, job: RunningJob) -> None:
        """Take note of what a round starts."""
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
        self._started.clear()
