"""Event listeners: methods of observers and followers, by event."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.job_events import JobEventObserver
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord


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
