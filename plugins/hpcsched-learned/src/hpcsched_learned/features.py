"""Features of a job at its submission, as a row of numbers for the forest.

Durations and amounts enter as logarithms, since thresholds are drawn evenly over the range of a
feature. Where nothing is known, a number that is never reached otherwise stands.
"""

from collections.abc import Hashable, Iterator, Sequence
from math import log1p
from typing import NamedTuple

from hpcsched import Job
from hpcsched.prediction.predictors import Recent

LAST = 8
"""Number of last run times in the features, of a user and of each of their kinds of job."""

UNKNOWN = -1.0
"""Stands for what is not known; below all logarithms and all numbers of traces."""

_NO_USER = -1
_SUMMARY = 7
_DAY = 86_400

_Key = tuple[str, int, Hashable]


class _User(NamedTuple):
    """Number of a user's jobs in the system, and instants of their last submission and end.

    Nobody tells a predictor of a job that is rejected, so it stays counted.
    """

    in_system: int
    last_submission: int | None
    last_end: int | None


class Features:
    """Maker of rows of features, with the history that they need.

    That is the last run times by user and by kind of job, and what each user has in the system.
    Memories hold `memory` records; what was written longest ago is forgotten first.
    """

    def __init__(self, memory: int) -> None:
        self._run_times: Recent[_Key, tuple[int, ...]] = Recent(memory)
        self._users: Recent[int, _User] = Recent(memory)
        # The last submit time of all: by then, what is observed had ended.
        self._now = 0

    def row(self, job: Job) -> tuple[float, ...]:
        """Return the features of a job at its submission, `[features]`.

        They are what the job asks for, whose it is and where it goes, the hour and weekday of its
        submission by the trace's clock, how many jobs its user has in the system, how long ago they
        last submitted one and had one end, and a summary of the last run times: of the user, and
        of their jobs that were alike in requested time, in resources, and in both.
        """
        user = self._user(job)
        row = [
            _log(job.requested_time),
            _log(job.units),
            float(job.exclusive),
            UNKNOWN if job.allowed_nodes is None else _log(len(job.allowed_nodes)),
            UNKNOWN if job.node_groups is None else float(len(job.node_groups)),
            job.submit_time % _DAY / 3600,
            float(job.submit_time // _DAY % 7),
            _log(user.in_system),
            _since(user.last_submission, job),
            _since(user.last_end, job),
            *(_number(n) for n in (job.user, job.group, job.application, job.queue, job.partition)),
        ]
        for amount in job.unit_request:
            row += (_log(amount), _log(amount * job.units))
        for key in _keys(job):
            row += _summary(self._run_times.get(key) or ())
        return tuple(row)

    def submit(self, job: Job) -> None:
        """Add a job that is in the system now."""
        self._now = job.submit_time
        if job.user is not None:
            user = self._user(job)
            self._users.put(
                job.user, user._replace(in_system=user.in_system + 1, last_submission=self._now)
            )

    def complete(self, job: Job, run_time: int) -> None:
        """Remove a job that has left the system, and add its run time, in seconds."""
        for key in _keys(job):
            self._run_times.put(key, (*(self._run_times.get(key) or ()), run_time)[-LAST:])
        if job.user is not None:
            user = self._user(job)
            # How long a job waited is not told, so this is the earliest that it may have ended.
            end = max(self._now, job.submit_time + run_time)
            self._users.put(
                job.user, user._replace(in_system=max(0, user.in_system - 1), last_end=end)
            )

    def _user(self, job: Job) -> _User:
        known = None if job.user is None else self._users.get(job.user)
        return known or _User(0, None, None)

    def __len__(self) -> int:
        """Return the number of records in memory."""
        return len(self._run_times) + len(self._users)


def _keys(job: Job) -> Iterator[_Key]:
    """Yield the keys of a job's run time, from its user to jobs that are equal in everything.

    Jobs without a user count as one user's.
    """
    user = _NO_USER if job.user is None else job.user
    name = job.application if job.name is None else job.name
    resources = (job.units, job.unit_request)
    yield "user", user, None
    yield "requested_time", user, (name, job.requested_time)
    yield "resources", user, (name, resources)
    yield "all", user, (name, job.queue, job.partition, job.requested_time, resources)


def _summary(run_times: Sequence[int]) -> tuple[float, ...]:
    """Return the number of run times, and logs of the last two, median, mean, least and largest."""
    if not run_times:
        return (0.0, *(UNKNOWN,) * (_SUMMARY - 1))
    last = run_times[-1]
    before = run_times[-2] if len(run_times) > 1 else None
    return (
        float(len(run_times)),
        _log(last),
        UNKNOWN if before is None else _log(before),
        _log(sorted(run_times)[len(run_times) // 2]),
        _log(sum(run_times) / len(run_times)),
        _log(min(run_times)),
        _log(max(run_times)),
    )


def _since(instant: int | None, job: Job) -> float:
    """Return the log of the seconds between an earlier event and a job's submission."""
    return UNKNOWN if instant is None else _log(job.submit_time - instant)


def _number(value: int | None) -> float:
    return UNKNOWN if value is None else float(value)


def _log(value: float) -> float:
    return log1p(max(0.0, value))
