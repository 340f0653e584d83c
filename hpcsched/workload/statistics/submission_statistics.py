"""Statistics of submissions: times, intervals and submitters."""

from collections import Counter
from dataclasses import dataclass

from hpcsched.workload.job import TracedJob
from hpcsched.workload.statistics.histogram import LOGARITHMIC, Distribution, Histogram, share
from hpcsched.workload.trace_calendar import Calendar

_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Times of submissions.

    Attributes
    ----------
    span_days
        The same in days.
    interarrival_time_seconds
        Distribution of times between consecutive submissions.
    """

    jobs: int
    first_submit_time_seconds: int | None
    last_submit_time_seconds: int | None
    span_seconds: int | None
    span_days: float | None
    interarrival_time_seconds: Distribution


class ArrivalCounter:
    """Counter of jobs and of the times between them."""

    def __init__(self) -> None:
        self._jobs = 0
        self._first: int | None = None
        self._last: int | None = None
        self._gaps = Histogram(LOGARITHMIC)

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        submit_time = traced.job.submit_time
        # The first job has no gap before it: n jobs have n - 1 gaps.
        if self._last is None:
            self._first = submit_time
        else:
            self._gaps.add(submit_time - self._last)
        self._last = submit_time
        self._jobs += 1

    def result(self) -> Arrivals:
        """Return the statistics of the jobs so far."""
        first, last = self._first, self._last
        span = None if first is None or last is None else last - first
        days = None if span is None else span / _DAY
        return Arrivals(self._jobs, first, last, span, days, self._gaps.distribution())


@dataclass(frozen=True, slots=True)
class Submitters:
    """Users and queues of the jobs.

    Attributes
    ----------
    users_with_several_jobs_share
        Share of users with more than one job.
    jobs_without_user
        Number of jobs whose user is not given.
    jobs_without_queue
        Number of jobs whose queue is not given.
    """

    users: int
    users_with_several_jobs_share: float | None
    jobs_without_user: int
    queues: int
    jobs_by_queue: dict[int, int]
    jobs_without_queue: int


class SubmitterCounter:
    """Counter of users and queues: the only state that grows, with their number."""

    def __init__(self) -> None:
        self._users: dict[int | None, bool] = {}
        self._queues: Counter[int | None] = Counter()
        self._userless = 0

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        job = traced.job
        if job.user is None:
            self._userless += 1
        else:
            # True from the second job on: a count of each user's jobs is not needed.
            self._users[job.user] = job.user in self._users
        self._queues[job.queue] += 1

    def result(self) -> Submitters:
        """Return the statistics of the jobs so far."""
        several = sum(self._users.values())
        by_queue = {queue: n for queue, n in self._queues.items() if queue is not None}
        return Submitters(
            len(self._users),
            share(several, len(self._users)),
            self._userless,
            len(by_queue),
            dict(sorted(by_queue.items())),
            self._queues[None],
        )


@dataclass(frozen=True, slots=True)
class Cycles:
    """Shares of jobs by hour of day, weekday (Monday first) and month; zeros without jobs.

    Attributes
    ----------
    counted_from
        Date of second 0 and its origin, in words.
    dated
        False if the trace has no date, so that months mean nothing.
    """

    counted_from: str
    dated: bool
    hour_shares: tuple[float, ...]
    weekday_shares: tuple[float, ...]
    month_shares: tuple[float, ...]


class CycleCounter:
    """Counter of jobs by hour, weekday and month of their submission."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._hours, self._weekdays, self._months = [0] * 24, [0] * 7, [0] * 12

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        # By the clocks of the log's place, with their changes in summer.
        hour, weekday, month = self._calendar.place(traced.job.submit_time)
        self._hours[hour] += 1
        self._weekdays[weekday] += 1
        self._months[month] += 1

    def result(self) -> Cycles:
        """Return the statistics of the jobs so far."""
        counts = (self._hours, self._weekdays, self._months)
        return Cycles(
            self._calendar.basis,
            self._calendar.known,
            *(tuple((share(n, sum(count)) or 0.0) for n in count) for count in counts),
        )
