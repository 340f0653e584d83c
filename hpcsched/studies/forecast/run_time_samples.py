"""Samples of run times from users' earlier jobs, conditional on the elapsed time of a job.

A job's run time is drawn from the recent jobs of its user as a share of the requested time, the
closest ones first: those with the same requested time, then the user's others, then all users'. It
is drawn among those that took longer than the job has run: the distribution is conditional on that,
as for a censored observation. These are empirical residuals (B. Efron, Bootstrap methods: another
look at the jackknife, 1979) of the prediction by requested time.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
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
    """Shares of the requested time that recent jobs took, by user.

    Parameters
    ----------
    columns
        All jobs of the trace; the history knows of those that it was told have ended.
    """

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
        samples
            Number of samples.
        draw
            Source of randomness.

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
