"""Followers of a replay in Python: eligibility of jobs, and observers.

The core writes events down. Eligibility is worked out in Python, by
`hpcsched.simulation.replay_eligibility`, at the instants at which it may have changed; the loop
gets the rows of the jobs for which it did.
"""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import BoolArray, FollowedTables, Output, Tables
from hpcsched.dispatching.core.state_arrays import followed_tables
from hpcsched.simulation.late_starts import LateStarts
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_eligibility import ReplayEligibility
from hpcsched.simulation.replay_events import ReplayEvents
from hpcsched.workload.job import TracedJob


class ReplayFollowers:
    """All followers of a replay; nothing is done where `needed` is False.

    Where Python decides, which needs all events, `late_starts` explains dropped starts.
    """

    def __init__(self, parts: Parts, tables: Tables, late_starts: LateStarts | None = None) -> None:
        self.holding: ReplayEligibility | None = None
        limits = any(partition.limits_users for partition in parts.partitions) or parts.job_limits
        if parts.dependencies or limits or parts.recorded is not None or parts.instants:
            self.holding = ReplayEligibility(parts)
            tables.counters[codes.RELEASE] = self.holding.next_release
        self.events = ReplayEvents(parts, self.holding, late_starts)
        self.needed = bool(self.holding or late_starts or self.events.heard)
        self.tables = followed_tables(4096, 1 << 14) if self.needed else FollowedTables()
        if self.holding is not None:
            turned = np.empty(len(tables.jobs), dtype=np.int64)
            self.tables = self.tables._replace(turned=turned)

    def read(self, jobs: Sequence[TracedJob]) -> BoolArray:
        """Add the next batch of jobs; return the mask of the followed ones, `[B]`."""
        self.events.read(jobs)
        if self.holding is None:
            return np.zeros(len(jobs), dtype=np.bool_)
        return np.array([self.holding.may_hold(job) for job, _ in jobs], dtype=np.bool_)

    def catch_up(self, tables: Tables, output: Output) -> None:
        """Notify the followers of all events since the last call."""
        if self.tables.events is not None:
            self.events.catch_up(tables, self.tables, output)

    def taken(self, counters: np.ndarray) -> None:
        """Note that the record of events begins anew."""
        self.events.taken()
        counters[[codes.OUT_EVENTS, codes.OUT_START_PLACES]] = 0

    def look(self, tables: Tables) -> None:
        """Find the ineligible jobs, and the next instant at which that changes by itself."""
        assert self.holding is not None
        assert self.tables.turned is not None
        counters = tables.counters
        turned = self.holding.turned(int(counters[codes.NOW]), tables)
        self.tables.turned[: len(turned)] = turned
        counters[codes.TURNED] = len(turned)
        counters[codes.RELEASE] = self.holding.next_release
        counters[codes.CHANGED] = 0

    def look_again(self, tables: Tables) -> None:
        """Request another round if the last one made jobs eligible."""
        assert self.holding is not None
        counters = tables.counters
        if self.holding.frees(int(counters[codes.NOW]), tables):
            counters[codes.ENDED_ANY] = 1
        # Releases have been gone through; a job that was rejected may have brought about others.
        counters[codes.RELEASE] = self.holding.next_release
        counters[codes.CHANGED] = 1
        counters[codes.PHASE] = codes.ZERO_ENDS

    def with_rows(self, rows: int) -> None:
        """Extend the tables to a number of rows of jobs; the content of `turned` is dropped."""
        if self.tables.turned is not None:
            none = np.zeros(rows, dtype=np.int64)
            self.tables = self.tables._replace(turned=none)

    def make_room(self, tables: Tables) -> None:
        """Make room for all starts of a round; everything recorded so far has been read."""
        if self.tables.events is None:
            return
        assert self.tables.start_nodes is not None
        events = max(len(self.tables.events), 2 * int(tables.counters[codes.QUEUED]) + 2)
        places = max(len(self.tables.start_nodes), 2 * int(tables.counters[codes.CELL_DEMAND]))
        self.tables = followed_tables(events, places)._replace(turned=self.tables.turned)
