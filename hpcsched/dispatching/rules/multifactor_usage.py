"""What users have used, with the past counting less and less."""

from collections.abc import Iterable, Iterator
from math import exp2, expm1, log

from hpcsched.dispatching.problem import RunningJob

User = int | None
"""A user's number; None stands for all whose number is not known, together."""


class DecayedUsage:
    """The usage of each user: demand × time, where what was used a half-life ago counts half.

    A job with demand `r` that runs from `a` to `b` comes, at an instant `t` from `b` on, to
    ∫ r · 2^(−(t − τ) / h) dτ over [a, b], with `h` the half-life in seconds; to r · (b − a) if
    there is none. This is the limit of what Slurm does, which lets all usage decay every few
    minutes and then adds that of the minutes passed. Here nothing depends on when it is asked.

    What has ended is kept as a sum for each user, worth what it says at the instant beside it.
    """

    def __init__(self, half_life: int | None) -> None:
        self._half_life = half_life
        self._ended: dict[User, tuple[float, int]] = {}
        self._started: dict[User, None] = {}

    def job_started(self, job: RunningJob) -> None:
        """Take note of the user, who is known from now on."""
        self._started[job.waiting.job.user] = None

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Add what the job has used, as of its end."""
        user = job.waiting.job.user
        before, instant = self._ended.get(user, (0.0, end_time))
        used = self._used(job, end_time)
        self._ended[user] = before * self._decay(end_time - instant) + used, end_time

    def users(self) -> Iterator[User]:
        """Yield the users of whom a job has started, in order of their first start."""
        yield from self._started

    def at(self, now: int, running: Iterable[RunningJob]) -> dict[User, float]:
        """Return the usage of each user as of now, that of running jobs so far included."""
        usage = {
            user: worth * self._decay(now - instant)
            for user, (worth, instant) in self._ended.items()
        }
        for job in running:
            user = job.waiting.job.user
            usage[user] = usage.get(user, 0.0) + self._used(job, now)
        return usage

    def _decay(self, seconds: int) -> float:
        """Return what usage is worth after so long."""
        return 1.0 if self._half_life is None else exp2(-seconds / self._half_life)

    def _used(self, job: RunningJob, now: int) -> float:
        """Return what a job that has run until now has used, as of now."""
        seconds, demand = now - job.start_time, job.waiting.demand
        if self._half_life is None:
            return float(demand * seconds)
        rate = log(2) / self._half_life
        return demand * -expm1(-rate * seconds) / rate
