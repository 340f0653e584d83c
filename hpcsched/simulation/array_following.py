"""What follows a replay of columns in Python: jobs that are held back, and observers.

The compiled loop writes down what happens. Who is held back is worked out in Python, by
`hpcsched.simulation.array_holding`, in those instants in which it may have changed; the loop is
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
from hpcsched.simulation.array_holding import ArrayHolding
from hpcsched.simulation.late_starts import LateStarts
from hpcsched.simulation.parts import Parts
from hpcsched.workload.job import TracedJob


class ArrayFollowing:
    """All that follows a replay; nothing does where `needed` is False, and `tables` has nothing.

    Where Python decides, which needs all events, `late_starts` says why starts are passed over.
    """

    def __init__(self, parts: Parts, tables: Tables, late_starts: LateStarts | None = None) -> None:
        self.holding: ArrayHolding | None = None
        limits = any(partition.limits_users for partition in parts.partitions)
        if parts.dependencies or limits or parts.recorded is not None or parts.instants:
            self.holding = ArrayHolding(parts)
            tables.counters[codes.RELEASE] = self.holding.next_release
        self.events = ArrayEvents(parts, self.holding, late_starts)
        self.needed = bool(self.holding or late_starts or self.events.heard)
        self.tables = followed_tables(4096, 1 << 14) if self.needed else FollowedTables()
        if self.holding is not None:
            turned = np.empty(len(tables.jobs), dtype=np.int64)
            self.tables = self.tables._replace(turned=turned)

    def read(self, jobs: Sequence[TracedJob]) -> BoolArray:
        """Take note of the next batch of jobs; return which of them are watched, `[B]`."""
        self.events.read(jobs)
        if self.holding is None:
            return np.zeros(len(jobs), dtype=np.bool_)
        return np.array([self.holding.may_hold(job) for job, _ in jobs], dtype=np.bool_)

    def catch_up(self, tables: Tables, output: Output) -> None:
        """Tell of all that has happened since."""
        if self.tables.events is not None:
            self.events.catch_up(tables, self.tables, output)

    def taken(self, counters: np.ndarray) -> None:
        """Take note that what is written down begins anew."""
        self.events.taken()
        counters[[codes.OUT_EVENTS, codes.OUT_START_PLACES]] = 0

    def look(self, tables: Tables) -> None:
        """Find out who is held back now, and when that changes if nothing else happens."""
        assert self.holding is not None
        assert self.tables.turned is not None
        counters = tables.counters
        turned = self.holding.turned(int(counters[codes.NOW]), tables)
        self.tables.turned[: len(turned)] = turned
        counters[codes.TURNED] = len(turned)
        counters[codes.RELEASE] = self.holding.next_release
        counters[codes.CHANGED] = 0

    def look_again(self, tables: Tables) -> None:
        """Have another round be held if it frees jobs that were held back in the last."""
        assert self.holding is not None
        counters = tables.counters
        if self.holding.frees(int(counters[codes.NOW]), tables):
            counters[codes.ENDED_ANY] = 1
        # Releases have been gone through; a job that was rejected may have brought about others.
        counters[codes.RELEASE] = self.holding.next_release
        counters[codes.CHANGED] = 1
        counters[codes.PHASE] = codes.ZERO_ENDS

    def with_rows(self, rows: int) -> None:
        """Have room for so many rows of jobs; what is in `turned` is not kept."""
        if self.tables.turned is not None:
            none = np.zeros(rows, dtype=np.int64)
            self.tables = self.tables._replace(turned=none)

    def make_room(self, tables: Tables) -> None:
        """Have room for all that a round may start; all that is written down has been told."""
        if self.tables.events is None:
            return
        assert self.tables.start_nodes is not None
        events = max(len(self.tables.events), 2 * int(tables.counters[codes.QUEUED]) + 2)
        places = max(len(self.tables.start_nodes), 2 * int(tables.counters[codes.CELL_DEMAND]))
        self.tables = followed_tables(events, places)._replace(turned=self.tables.turned)
