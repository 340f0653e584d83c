"""Who is told of which event, and in which order."""

from hpcsched.dispatching.problem import RunningJob
from hpcsched.simulation.observer import Observer, listeners
from hpcsched.simulation.records import RoundRecord


class Following:
    """A follower that keeps what it is told."""

    def job_started(self, running: RunningJob) -> None:
        """Note nothing."""

    def job_ended(self, running: RunningJob, start: int) -> None:
        """Note nothing."""


class OfStarts(Observer):
    """An observer of starts alone."""

    def job_started(self, job: RunningJob) -> None:
        """Note nothing."""


class OfRounds(OfStarts):
    """An observer of rounds too."""

    def round_ended(self, record: RoundRecord) -> None:
        """Note nothing."""


def test_nobody() -> None:
    """There is nothing to call."""
    assert not any(listeners((), ()))


def test_only_what_is_listened_to() -> None:
    """Methods that an observer has from its base class are not called at each event."""
    starts, rounds = OfStarts(), OfRounds()
    heard = listeners((starts, rounds), ())
    assert heard.started == [starts.job_started, rounds.job_started]
    assert heard.rounds == [rounds.round_ended]
    assert not (heard.submitted or heard.ended or heard.interrupted or heard.explained)


def test_followers_come_first() -> None:
    """Dispatchers know of a start before observers are told of it."""
    follower, observer = Following(), OfStarts()
    heard = listeners((observer,), (follower,))
    assert heard.started == [follower.job_started, observer.job_started]
    assert heard.followed_ends == [follower.job_ended]
