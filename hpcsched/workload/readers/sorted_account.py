"""Account of a log that is sorted before its first jobs are known."""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount

Place = tuple[int, int]
"""Place of a record in the sorted log: its submit time, and its position in the log, from 1."""


class ReadJob(NamedTuple):
    """A job of a log, with its place first, so that jobs sort by it."""

    submit_time: int
    record: int
    traced: TracedJob
    changes: Sequence[str]

    @property
    def place(self) -> Place:
        """Place in the sorted log."""
        return self.submit_time, self.record


class SortedAccount:
    """Counts of the records up to the last of the first jobs; those behind it count as one thing.

    Attributes
    ----------
    last
        A place behind which there are none of the first jobs; None: not known yet.
    """

    def __init__(self) -> None:
        self.last: Place | None = None
        self._noted: list[tuple[Place, str]] = []

    def note(self, reason: str, place: Place) -> None:
        """Note a record without a job, unless the record is known to be behind the first jobs."""
        if self._holds(place):
            self._noted.append((place, reason))

    def first_jobs(self, jobs: Iterable[ReadJob], limit: int) -> list[ReadJob]:
        """Return the first jobs in order of submission, and hold no others in memory."""
        first: list[tuple[int, int, ReadJob]] = []  # a heap, the latest job on top
        for read in jobs:
            item = -read.submit_time, -read.record, read
            if len(first) < limit:
                heapq.heappush(first, item)
            else:
                heapq.heappushpop(first, item)
            if len(first) == limit:
                self.last = first[0][2].place
        return sorted(read for _, _, read in first)

    def complete(self, account: TraceAccount, jobs: int) -> None:
        """Add what was noted to an account, once `last` is known."""
        for place, reason in self._noted:
            if self._holds(place):
                account.skipped[reason] += 1
        left = account.read - account.skipped.total() - jobs
        if left:
            account.skipped["after_first_jobs"] = left

    def _holds(self, place: Place) -> bool:
        return self.last is None or place <= self.last
