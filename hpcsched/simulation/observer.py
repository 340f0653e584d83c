"""Observers: whoever wants to follow a simulation without changing it."""

from collections.abc import Sequence

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord


class Observer:
    """The base of observers; override what you want to hear of, the rest costs nothing.

    Calls come in the order of the simulated events: at an instant ends, then interruptions, then
    submissions, then the starts and rejections of the round whose decision is carried out, then the
    round.
    """

    def job_submitted(self, job: WaitingJob) -> None:
        """A job was submitted, at its submit time; it waits, or is told of as rejected next."""

    def job_started(self, job: RunningJob) -> None:
        """A job has started, at its start time."""

    def job_interrupted(self, interruption: Interruption) -> None:
        """A running job has lost a node; it waits again, or is told of as failed next."""

    def job_ended(self, record: JobRecord) -> None:
        """A job has left the system: completed, killed, rejected or failed."""

    def round_ended(self, record: RoundRecord) -> None:
        """A dispatching round is over and its decision applied, `latency` seconds after `now`."""

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """The reasons of a round's decision, after `round_ended`.

        Dispatchers are asked for reasons only where an observer hears of them.
        """

    def close(self) -> None:
        """The simulation is over, whether it came to its end or was interrupted."""
