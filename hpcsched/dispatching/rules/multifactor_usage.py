"""Users' accumulated usage, with exponential decay."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from math import exp2, expm1, log
from typing import Generic, TypeVar

from hpcsched.dispatching.problem import RunningJob
from hpcsched.workload.job import Job

User = int | None
"""Number of a user; None stands for all users of unknown number together."""

Owner = TypeVar("Owner", bound=Hashable)
"""What usage is charged to: a user, or a user in an account."""


def user_of(job: Job) -> User:
    """Return the user of a job."""
    return job.user


class DecayedUsage(Generic[Owner]):
    """Usage of each user, or of each user in an account: demand × time, with a half-life.

    A job with demand `r` that runs from `a` to `b` amounts, at an instant `t` from `b` on, to ∫ r ·
    2^(−(t − τ) / h) dτ over [a, b], with `h` the half-life in seconds; to r · (b − a) without one.
    This is the limit of Slurm's method, which decays all usage every few minutes and then adds that
    of the minutes passed. Here the result does not depend on the times of queries.

    The usage of ended jobs is kept as one sum per owner, with the instant at which it had that
    value.

    Parameters
    ----------
    half_life
        Half-life in seconds; None: no decay.
    initial
        Demand × seconds by owner, as of the first instant that is seen.
    """

    def __init__(
        self,
        half_life: int | None,
        owner_of: Callable[[Job], Owner],
        initial: Mapping[Owner, float] | None = None,
    ) -> None:
        self._half_life = half_life
        self._owner_of = owner_of
        self._initial = dict(initial or {})
        self._ended: dict[Owner, tuple[float, int]] = {}
        # A dict as an ordered set: sums over owners must not depend on hash order.
        self._started: dict[Owner, None] = {}

    def job_started(self, job: RunningJob) -> None:
        """Record the owner of a job that starts."""
        self._begin(job.start_time)
        self._started[self._owner_of(job.waiting.job)] = None

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Add the usage of a job, as of its end.

        Parameters
        ----------
        end_time
            Its end, in seconds; ends come in ascending order.
        """
        owner = self._owner_of(job.waiting.job)
        before, instant = self._ended.get(owner, (0.0, end_time))
        used = self._used(job, end_time)
        self._ended[owner] = before * self._decay(end_time - instant) + used, end_time

    def owners(self) -> Iterator[Owner]:
        """Yield the owners with a started job, in order of their first start."""
        yield from self._started

    def at(self, now: int, running: Iterable[RunningJob]) -> dict[Owner, float]:
        """Return the usage of each owner at an instant, including the part of jobs that still run.

        Parameters
        ----------
        now
            The instant, in seconds.

        Returns
        -------
        dict[Owner, float]
            Demand × seconds by owner, decayed to `now`.
        """
        self._begin(now)
        usage = {
            owner: worth * self._decay(now - instant)
            for owner, (worth, instant) in self._ended.items()
        }
        for job in running:
            owner = self._owner_of(job.waiting.job)
            usage[owner] = usage.get(owner, 0.0) + self._used(job, now)
        return usage

    def _begin(self, instant: int) -> None:
        """Let the initial usage decay from an instant on, if it does not yet."""
        if self._initial:
            self._ended = {owner: (worth, instant) for owner, worth in self._initial.items()}
            self._initial = {}

    def _decay(self, seconds: int) -> float:
        """Return the factor by which usage decays in some seconds."""
        return 1.0 if self._half_life is None else exp2(-seconds / self._half_life)

    def _used(self, job: RunningJob, now: int) -> float:
        """Return the usage of a job that has run until `now`, as of then."""
        seconds, demand = now - job.start_time, job.waiting.demand
        if self._half_life is None:
            return float(demand * seconds)
        rate = log(2) / self._half_life
        # expm1 keeps the digits of short runs, for which 2^(−s / h) is close to 1.
        return demand * -expm1(-rate * seconds) / rate
