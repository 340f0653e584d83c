"""The base class of observers, which follow a simulation without changing it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hpcsched.dispatching.additional import NO_DATA, AdditionalData, DataProvider
from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import JobEventObserver, RunningJob, WaitingJob
from hpcsched.errors import PluginError
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


class Listeners(NamedTuple):
    """Functions that are called at each event, in order.

    Followers are notified of `started` before observers, and of `followed_ends`: each end of an
    attempt, with its start in seconds, also one lost to a node. The rest is for observers.
    """

    submitted: Sequence[Callable[[WaitingJob], None]]
    started: Sequence[Callable[[RunningJob], None]]
    interrupted: Sequence[Callable[[Interruption], None]]
    followed_ends: Sequence[Callable[[RunningJob, int], None]]
    ended: Sequence[Callable[[JobRecord], None]]
    rounds: Sequence[Callable[[RoundRecord], None]]
    explained: Sequence[Callable[[RoundRecord, Sequence[Reason]], None]]


def listeners(observers: Sequence[Observer], followers: Iterable[JobEventObserver]) -> Listeners:
    """Return the listeners, without observers' methods that do nothing."""
    followers = tuple(followers)
    return Listeners(
        _handlers(observers, "job_submitted"),
        [
            *(follower.job_started for follower in followers),
            *_handlers(observers, "job_started"),
        ],
        _handlers(observers, "job_interrupted"),
        [follower.job_ended for follower in followers],
        _handlers(observers, "job_ended"),
        _handlers(observers, "round_ended"),
        _handlers(observers, "reasons_given"),
    )


def _handlers(observers: Sequence[Observer], event: str) -> list[Callable[..., None]]:
    """Return the observers' methods for an event, without those that do nothing."""
    return [
        getattr(observer, event)
        for observer in observers
        if getattr(type(observer), event) is not getattr(Observer, event)
    ]


def givers_among(names: Sequence[str], observers: Sequence[object]) -> dict[str, DataProvider]:
    """Return the observers that pass data to dispatchers, by name.

    Of several with one name, the second is called `NAME/2`, and so on.
    """
    givers: dict[str, DataProvider] = {}
    for name, observer in zip(names, observers, strict=True):
        if isinstance(observer, DataProvider):
            count = sum(1 for known in givers if known.partition("/")[0] == name)
            givers[name if not count else f"{name}/{count + 1}"] = observer
    return givers


def additional_data(givers: Mapping[str, DataProvider], now: int) -> AdditionalData:
    """Return the data of all givers at `now`, in seconds, by name."""
    if not givers:
        return NO_DATA
    return AdditionalData({name: _ask(name, giver, now) for name, giver in givers.items()})


def _ask(name: str, giver: DataProvider, now: int) -> Mapping[str, object]:
    try:
        data = giver.additional_data(now)
    except FAULTS as error:
        giving = named("observer", giver, name)
        raise PluginError(f"{giving}: additional_data {raised(error)}") from error
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        giving = named("observer", giver, name)
        raise PluginError(
            f"{giving}: expected a mapping of names to additional data, found {data!r}"
        )
    return data
