"""What follows a replay of columns in Python: jobs that are held back, and observers.

The compiled loop writes down what happens. Who is held back is worked out in Python, by
`hpcsched.simulation.start_conditions`, in those instants in which it may have changed; the loop is
told of the jobs that this turns about.
"""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import (
    BoolArray,
    FollowedTables,
    Output,
    Tables,
    followed_tables,
)
from hpcsched.simulation.array_events import ArrayEvents
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.start_conditions import start_conditions
from hpcsched.workload.job import Job, TracedJob


class ArrayFollowing:
    """All that follows a replay; nothing does where `needed` is False, and `tables` has nothing."""

    def __init__(self, parts: Parts, rows: int) -> None:
        self._parts = parts
        holds = parts.dependencies or any(of.limits_users for of in parts.partitions)
        self._conditions = start_conditions(parts, None) if holds else None
        self._events = ArrayEvents(parts, self._conditions)
        self.needed = self._conditions is not None or self._events.heard
        self.tables = followed_tables(rows, 4096, 1 << 14) if self.needed else FollowedTables()

    def read(self, jobs: Sequence[TracedJob]) -> BoolArray:
        """Take note of the next batch of jobs; return which of them are watched, `[B]`."""
        self._events.read(jobs)
        return np.array([self._is_watched(job) for job, _ in jobs], dtype=np.bool_)

    def _is_watched(self, job: Job) -> bool:
        """Say whether others may be held back, or not any more, when a job starts or ends."""
        partition = self._parts.partitions.of(job)
        limits = partition is not None and partition.limits_users and job.user is not None
        return limits or bool(job.after)

    def catch_up(self, tables: Tables, output: Output) -> None:
        """Tell of all that has happened since."""
        if self.tables.events is not None:
            self._events.catch_up(tables, self.tables, output)

    def taken(self, counters: np.ndarray) -> None:
        """Take note that what is written down begins anew."""
        self._events.taken()
        counters[[codes.OUT_EVENTS, codes.OUT_START_PLACES]] = 0

    def look(self, tables: Tables) -> None:
        """Find out who is held back now, and when that changes if nothing else happens."""
        assert self._conditions is not None
        assert self.tables.turned is not None
        counters, now = tables.counters, int(tables.counters[codes.NOW])
        queue = self._events.queue.values()
        shown = self._conditions.eligible(tuple([queued.waiting for queued in queue]), now)
        eligible = {job.job_id for job in shown}
        turned = [
            queued.row
            for queued in queue
            if (queued.waiting.job_id in eligible) == bool(tables.jobs[queued.row, codes.HELD])
        ]
        self.tables.turned[: len(turned)] = turned
        counters[codes.TURNED] = len(turned)
        release = self._conditions.next_instant(now, None, waiting=True)
        counters[codes.RELEASE] = codes.NEVER if release is None else release
        counters[codes.CHANGED] = 0

    def look_again(self, tables: Tables) -> None:
        """Have another round be held if it frees jobs that were held back in the last."""
        assert self._conditions is not None
        counters, now = tables.counters, int(tables.counters[codes.NOW])
        queue = self._events.queue.values()
        if self._conditions.frees(tuple([queued.waiting for queued in queue]), now):
            counters[codes.ENDED_ANY] = 1
        counters[codes.PHASE] = codes.ZERO_ENDS

    def with_rows(self, rows: int) -> None:
        """Have room for so many rows of jobs; what is in `turned` is not kept."""
        if self.tables.events is not None:
            none = np.zeros(rows, dtype=np.int64)
            self.tables = self.tables._replace(turned=none)

    def make_room(self, tables: Tables) -> None:
        """Have room for all that a round may start; all that is written down has been told."""
        if self.tables.events is None:
            return
        assert self.tables.start_nodes is not None
        events = max(len(self.tables.events), 2 * int(tables.counters[codes.QUEUED]) + 2)
        places = max(len(self.tables.start_nodes), 2 * int(tables.counters[codes.CELL_DEMAND]))
        self.tables = followed_tables(len(tables.jobs), events, places)
