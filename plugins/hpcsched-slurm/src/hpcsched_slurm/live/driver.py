"""Loop of a live run: read the cluster, ask the dispatcher, advise or place jobs."""

import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from hpcsched.system.cluster import (
    ClusterJob,
    ClusterState,
    RefusedError,
    UnavailableError,
    WorkloadManager,
    read_cluster,
)
from hpcsched_slurm.live.following import Following
from hpcsched_slurm.live.journal import Do, Journal
from hpcsched_slurm.live.rounds import Round

_T = TypeVar("_T")


@dataclass(frozen=True)
class Pace:
    """Intervals of a live run, in seconds; see `hpcsched.scenario.live.LiveSettings`."""

    poll: float
    tick: float
    placement_timeout: float


@dataclass(frozen=True)
class Clock:
    """Time in seconds since 1970, and a function that waits; replaced in tests."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class Limits:
    """Limits of a driver's loop.

    Attributes
    ----------
    seconds
        Real seconds after which the loop ends; None for no limit.
    rounds
        Number of rounds after which the loop ends; None for no limit.
    until_idle
        True: the loop ends when none of the followed jobs is left.
    once
        True: the loop ends after one look, also without a job to hold a round on.
    """

    seconds: float | None = None
    rounds: int | None = None
    until_idle: bool = False
    once: bool = False


@dataclass(frozen=True)
class Listeners:
    """Receivers of a driver's rounds, messages and heartbeats.

    Attributes
    ----------
    beat
        Receives the clock's seconds whenever the cluster could be read.
    """

    round_held: Callable[[Round, ClusterState], None]
    say: Callable[[str], None]
    beat: Callable[[float], None] = lambda _now: None


class Failures:
    """Jobs that a cluster did not start, each left alone for twice as long as the time before.

    The first time is 2 seconds; the longest is ten minutes or, where that is longer, the given
    placement timeout.
    """

    def __init__(self, placement_timeout: float) -> None:
        self._longest = max(600.0, placement_timeout)
        self._until: dict[str, tuple[int, float]] = {}

    def add(self, key: str, now: float) -> None:
        """Record at `now`, in seconds, that a job was not started."""
        count = self._until.get(key, (0, 0.0))[0] + 1
        self._until[key] = count, now + min(self._longest, 2.0**count)

    def shunned(self, now: float) -> frozenset[str]:
        """Return the keys of the jobs that are still left alone."""
        return frozenset(key for key, (_, until) in self._until.items() if until > now)

    def forget(self, present: Collection[str]) -> None:
        """Forget the jobs that are not present any more."""
        self._until = {key: what for key, what in self._until.items() if key in present}


class _StoppedError(BaseException):
    """Stop of the loop while it waited or read, which changes nothing and can be broken off."""


class Driver:
    """Driver of a cluster; without a journal it advises and changes nothing.

    Parameters
    ----------
    ask
        Function that holds a round on a state, at an instant in seconds since the origin, without
        the jobs of some keys.
    journal
        Journal of placed jobs; None to advise only.
    """

    def __init__(
        self,
        manager: WorkloadManager,
        following: Following,
        ask: Callable[[ClusterState, int, frozenset[str]], Round],
        pace: Pace,
        listeners: Listeners,
        *,
        journal: Journal | None = None,
        clock: Clock = Clock(),
    ) -> None:
        self._manager = manager
        self._following = following
        self._ask = ask
        self._told, self._say, self._beat = listeners.round_held, listeners.say, listeners.beat
        self._pace, self._clock = pace, clock
        self._origin = following.site.origin
        self._journal = journal
        self._seen: object = None
        self._last_round = float("-inf")
        self._looked = 0.0
        self._trouble: UnavailableError | None = None
        self._rounds = 0
        self._failures = Failures(pace.placement_timeout)
        self._warned: set[str] = set()
        self._only_looking = self._told_of_no_job = False
        self.stopped = False

    def stop(self) -> None:
        """End the loop: at once while it waits or reads, else after the present change or round.

        Signal handlers call this in the thread of the loop.
        """
        self.stopped = True
        if self._only_looking:
            raise _StoppedError

    def run(self, limits: Limits = Limits()) -> None:
        """Read and answer until stopped, or until a limit is reached.

        Looks come as a second begins. Clusters state times in whole seconds, so that the end of one
        second is answered in the next, always, and a simulation in whole seconds can do the same.

        Raises
        ------
        UnavailableError
            If the limits allow one look, and the cluster cannot be read then.
        """
        with suppress(_StoppedError):
            self._run(limits)

    def _run(self, limits: Limits) -> None:
        seconds = float("inf") if limits.seconds is None else limits.seconds
        end = self._clock.now() + seconds
        due = 0.0
        while not self.stopped:
            now = self._clock.now()
            self._looking(partial(self._clock.sleep, max(due, math.ceil(now)) - now))
            looked = self._clock.now()
            read = self.step(once=limits.once)
            if limits.once:
                if self._trouble is not None:
                    raise self._trouble
                return
            idle = read and not (self._following.waiting or self._following.running)
            enough = self._rounds == limits.rounds or self._clock.now() >= end
            if enough or (limits.until_idle and idle):
                return
            # From the look and not from its end: a slow round must not put off all later looks.
            due = math.floor(looked) + self._pace.poll

    def _looking(self, look: Callable[[], _T]) -> _T:
        """Return the result of a function that changes nothing, and that `stop` may break off."""
        self._only_looking = True
        try:
            # A stop just before was too early to break off the look.
            if self.stopped:
                raise _StoppedError
            return look()
        finally:
            self._only_looking = False

    def step(self, *, once: bool = False) -> bool:
        """Look, and hold a round if one is due; return True if the cluster could be read.

        Parameters
        ----------
        once
            True: no other look follows, so that none is announced.
        """
        self._looked = self._clock.now()
        try:
            state = self._looking(partial(read_cluster, self._manager))
        except UnavailableError as error:
            if self._trouble is None and not once:
                self._say(tried_again(error))
            self._trouble = error
            return False
        if self._trouble is not None:
            self._say("the cluster can be read again")
            self._trouble = None
        for warning in state.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._say(f"warning: {warning}")
        now = self._clock.now()
        self._following.update(state, int(now) - self._origin)
        self._beat(now)
        if self._journal is not None:
            present = {job.key for job in state.jobs if job.phase != "ended"}
            self._journal.forget(present)
            self._failures.forget(present)
            self._take_back(state, now, self._journal)
        # A job that is to be tried again is news, as soon as its time has come.
        shunned = self._failures.shunned(now)
        seen = _fingerprint(state, self._started(state)), shunned
        # With an empty queue no decision is possible, and an idle cluster would fill the record of
        # rounds.
        if not self._following.waiting:
            self._seen = seen
            if not self._told_of_no_job:
                self._say("no job waits")
            self._told_of_no_job = True
            return True
        self._told_of_no_job = True
        if seen != self._seen or now - self._last_round >= self._pace.tick:
            self._seen, self._last_round = seen, now
            self._round(state, now, shunned)
        return True

    def _started(self, state: ClusterState) -> set[str]:
        """Return the keys of the jobs that were placed here, and not held since."""
        if self._journal is None:
            return set()
        placed = self._journal.placed
        return {job.key for job in state.jobs if job.key in placed and not _is_held(job)}

    def _round(self, state: ClusterState, now: float, shunned: frozenset[str]) -> None:
        self._rounds += 1
        held = self._ask(state, int(now) - self._origin, shunned)
        if held.trouble:
            self._say(f"round {held.record.round}: answered by list scheduling: {held.trouble}")
        self._told(held, state)
        if self._journal is not None and self._make(held, now, self._journal):
            # That these start is no news.
            self._seen = _fingerprint(state, self._journal.placed), shunned
        if held.again:
            self._seen = None

    def _make(self, held: Round, now: float, journal: Journal) -> bool:
        """Carry out the starts of a round, each written down before; return True if all were."""
        jobs = [*(held.jobs[start.job_id] for start in held.starts), *held.beyond]
        by_key = {job.key: job for job in jobs}
        changes: list[tuple[Do, str, tuple[str, ...]]] = [
            ("start", held.jobs[start.job_id].key, self.names(start.allocation.nodes))
            for start in held.starts
        ]
        changes += [("start", job.key, ()) for job in held.beyond]
        if not changes:
            return True
        made = True
        # The journal is on the disk before the first start: a driver that dies here knows its jobs
        # again.
        for entry in journal.intend(now, held.record.round, changes):
            if self.stopped:
                made = False
                break
            try:
                self._manager.start(by_key[entry.job], entry.nodes)
            except RefusedError as error:
                made = False
                journal.outcome(entry, self._round_trip(), str(error))
                self._failures.add(entry.job, now)
                self._say(f"job {entry.job} could not be started: {error}")
            except UnavailableError as error:
                self._say(f"the cluster does not answer, job {entry.job} is decided again: {error}")
                made = False
                break
            else:
                journal.outcome(entry, self._round_trip())
        if not made:
            self._seen = None
        return made

    def names(self, nodes: tuple[int, ...]) -> tuple[str, ...]:
        """Return the names of nodes by their numbers."""
        return tuple(self._following.site.names[node] for node in nodes)

    def _round_trip(self) -> float:
        """Return the seconds since the present look began."""
        return self._clock.now() - self._looked

    def _take_back(self, state: ClusterState, now: float, journal: Journal) -> None:
        """Take back the jobs that were to start and have not, or were put back since."""
        late = [
            job
            for job in state.jobs
            if job.key in journal.placed
            and job.phase in {"waiting", "blocked"}
            and not job.held
            and journal.placed[job.key].nodes
            and now - journal.placed[job.key].time >= self._pace.placement_timeout
        ]
        if not late:
            return
        by_key = {job.key: job for job in late}
        for entry in journal.intend(now, self._rounds, [("hold", job.key, ()) for job in late]):
            try:
                self._manager.hold(by_key[entry.job])
            except (RefusedError, UnavailableError) as error:
                journal.outcome(entry, self._round_trip(), str(error))
                self._say(f"job {entry.job} could not be taken back: {error}")
                if isinstance(error, UnavailableError):
                    # Each further call would wait for the time limit too.
                    break
            else:
                journal.outcome(entry, self._round_trip())
                self._failures.add(entry.job, now)
                why = by_key[entry.job].why
                told = f": the cluster says {why}" if why else ""
                self._say(f"job {entry.job} did not start in time, and is taken back{told}")


def tried_again(error: UnavailableError) -> str:
    """Return the line that tells that a cluster cannot be read."""
    return f"the cluster cannot be read, and is tried again until it can: {error}"


def _is_held(job: ClusterJob) -> bool:
    return job.held and job.phase != "running"


def _fingerprint(state: ClusterState, started: Collection[str]) -> object:
    """Return a value that changes when a round may decide otherwise.

    Starts of the jobs with keys `started`, which were placed here, do not change it.
    """
    return (
        tuple((node.name, node.usable) for node in state.nodes),
        tuple(
            (job.key, job.requested_time) if job.key in started else _decided_by(job)
            for job in state.jobs
            if job.phase != "ended"
        ),
    )


def _decided_by(job: ClusterJob) -> tuple[object, ...]:
    """Return the fields of a job on which a round may depend."""
    placed = tuple(job.placed)
    # The usage of a limit may fall without a change of a job.
    return job.key, job.phase, job.held, placed, job.requested_time, job.units, job.limits
