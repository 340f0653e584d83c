"""The base class of observers, which follow a simulation without changing it."""

from collections.abc import Iterable, Sequence

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.plugin_faults import FAULTS, is_third_party, log_traceback, named, raised
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord


class Observer:
    """Base class of observers; override the methods of the events that you need.

    Calls come in the order of simulated events: at an instant ends, then interruptions, then
    submissions, then the starts and rejections of the round whose decision takes effect, then the
    round.

    Examples
    --------
    >>> class Longest(Observer):
    ...     seconds = 0
    ...     def job_ended(self, record):
    ...         if record.start_time is not None:
    ...             self.seconds = max(self.seconds, record.start_time - record.job.submit_time)
    """

    def job_submitted(self, job: WaitingJob) -> None:
        """Handle a submission; the job waits, or is reported as rejected next."""

    def job_started(self, job: RunningJob) -> None:
        """Handle a start."""

    def job_interrupted(self, interruption: Interruption) -> None:
        """Handle the loss of a node; the job waits again, or is reported as failed next."""

    def job_ended(self, record: JobRecord) -> None:
        """Handle a job that has left the system: completed, killed, rejected or failed."""

    def round_ended(self, record: RoundRecord) -> None:
        """Handle a round when its decision takes effect, `latency` seconds after `now`."""

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Handle the reasons of a round's decision, after `round_ended`.

        Dispatchers are asked for reasons only if an observer overrides this.
        """

    def close(self) -> None:
        """Handle the end of the simulation, complete or interrupted."""


def close_observers(observers: Iterable[Observer]) -> dict[str, str]:
    """Close observers, and return why those of third parties failed, by plugin.

    A simulation that has ended is complete without their files, so such a failure is no error.
    """
    failed = {}
    for observer in observers:
        try:
            observer.close()
        except FAULTS as error:
            if not is_third_party(observer):
                raise
            failed[named("observer", observer)] = f"close {raised(error)}"
            log_traceback(error)
    return failed
