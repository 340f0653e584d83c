"""Samples of run times and of later jobs, drawn from the past."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns

OWN = 40
"""Number of recent jobs that are remembered of each user, and of each requested time of a user."""
OTHERS = 400
"""Number of recent jobs that are remembered of all users together."""
FEWEST = 8
"""Number of jobs from which on a source is sufficient by itself."""
ALIKE = 0.8
"""Probability that a job's rank is the one that its user's jobs share. Chosen on KTH-SP2."""
NOBODY = -1
"""User of jobs without one."""


def users_of(columns: JobColumns) -> IntArray:
    """Return the user of each job, `[J]`; `NOBODY` where none is known."""
    users = pc.fill_null(columns.details.column("user"), NOBODY)
    return np.asarray(users.to_numpy(zero_copy_only=False), dtype=np.int64)


class RunTimeHistory:
    """Shares of the requested time that recent jobs took, by user."""

    def __init__(self, columns: JobColumns) -> None:
        self._users = users_of(columns)
        self._requested = np.maximum(columns.requested_time, 1)
        self._shares: FloatColumn = columns.run_time / self._requested
        self._alike: dict[tuple[int, int], deque[float]] = defaultdict(lambda: deque(maxlen=OWN))
        self._own: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=OWN))
        self._all: deque[float] = deque(maxlen=OTHERS)

    def ended(self, sequence: Iterable[int]) -> None:
        """Note jobs that have ended, in order, by their places among all jobs."""
        for place in sequence:
            user, requested = int(self._users[place]), int(self._requested[place])
            share = float(self._shares[place])
            self._alike[user, requested].append(share)
            self._own[user].append(share)
            self._all.append(share)

    def run_times(
        self,
        present: Sequence[tuple[int, int]],
        elapsed: Sequence[int],
        samples: int,
        draw: np.random.Generator,
    ) -> IntArray:
        """Return sampled run times.

        Parameters
        ----------
        present
            User and requested time in seconds of each job, `[J]`.
        elapsed
            Seconds for which each job runs already, `[J]`; 0 for a job that waits.

        Returns
        -------
        IntArray
            Run times, `[S, J]`, in seconds, each longer than the job runs already.
        """
        found = np.empty((samples, len(present)), dtype=np.int64)
        ranks = _ranks([user for user, _ in present], samples, draw)
        for number, ((user, requested), ran) in enumerate(zip(present, elapsed, strict=True)):
            shares = self._candidates(user, requested, ran / requested)
            if len(shares):
                drawn = shares[(ranks[:, number] * len(shares)).astype(np.int64)]
            else:
                # Nobody's job ran for so long: any remaining time is as likely.
                drawn = ran / requested + (1 - ran / requested) * ranks[:, number]
            found[:, number] = np.maximum(np.rint(drawn * requested), ran + 1)
        return found

    def _candidates(self, user: int, requested: int, beyond: float) -> FloatColumn:
        """Return shares from the closest sources, until there are enough that are beyond a share.

        Other requested times count as shares of them.
        """
        found: list[float] = []
        for source in (self._alike.get((user, requested)), self._own.get(user), self._all):
            found = [share for share in chain(source or ()) if share > beyond]
            if len(found) >= FEWEST:
                break
        return np.sort(np.array(found))


def _ranks(users: Sequence[int], samples: int, draw: np.random.Generator) -> FloatColumn:
    """Return the ranks of run times in their distributions, `[S, J]`, from 0 to below 1.

    With probability `ALIKE` a job has the rank that its user's jobs share in a sample: jobs of a
    user run the same program, and intervals would be too narrow if they were independent.
    """
    known, of_user = np.unique(np.array(users, dtype=np.int64), return_inverse=True)
    shared = draw.random((samples, len(known)))[:, of_user]
    own = draw.random((samples, len(users)))
    return np.where(draw.random(own.shape) < ALIKE, shared, own)


DAY = 86_400
WEEK = 7 * DAY
MOST_WEEKS = 8
"""Number of weeks from which samples are taken."""
HORIZON = MOST_WEEKS * WEEK
"""Time for which later jobs are sampled; jobs that wait longer find an emptying system."""
AT_FIRST, AT_MOST = 8, 256
"""Numbers of jobs in the first batch and in the largest; each is twice as large as the one before.

A future ends at a batch once all jobs that are forecast have started. Most start soon, and rounds
that Python decides take long.
"""


class ArrivalHistory:
    """Jobs that were submitted before, which are moved to later times."""

    def __init__(self, columns: JobColumns) -> None:
        self._columns = columns
        self.users = users_of(columns)
        self._first_number = int(columns.job_id.max(initial=0)) + 2

    def lags(self, submitted: int, now: int) -> IntArray:
        """Return the times by which the past can be moved, in seconds.

        Parameters
        ----------
        now
            The instant, in seconds.
        """
        if not submitted:
            return np.empty(0, dtype=np.int64)
        known = now - int(self._columns.submit_time[0])
        for unit in (WEEK, DAY):
            if known >= unit:
                return unit * np.arange(1, min(known // unit, MOST_WEEKS) + 1)
        return np.array([max(known, 1)])

    def later(self, submitted: int, now: int, lag: int | None) -> Iterator[JobColumns]:
        """Yield jobs after an instant, as they were submitted `lag` seconds before, repeatedly.

        Parameters
        ----------
        now
            The instant, in seconds.
        lag
            Time by which the past is moved, in seconds; None: nothing is submitted.
        """
        if lag is None:
            return
        first = int(np.searchsorted(self._columns.submit_time, now - lag, side="right"))
        moved, number, size = lag, self._first_number, AT_FIRST
        while first < submitted and moved <= HORIZON:
            begin = first
            while begin < submitted:
                rows = np.arange(begin, min(begin + size, submitted))
                yield self._moved(rows, moved, number)
                number, begin = number + len(rows), begin + len(rows)
                size = min(2 * size, AT_MOST)
            moved += lag

    def _moved(self, rows: IntArray, seconds: int, first_number: int) -> JobColumns:
        columns = self._columns.take(rows)
        place = columns.details.schema.get_field_index("after")
        # The jobs that they waited for are not submitted again.
        nothing = pa.nulls(len(rows), columns.details.schema.field(place).type)
        return columns._replace(
            job_id=np.arange(first_number, first_number + len(rows)),
            submit_time=columns.submit_time + seconds,
            details=columns.details.set_column(place, "after", nothing),
        )
