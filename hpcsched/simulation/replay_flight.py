"""Decisions in flight: those that take simulated time, or that Python makes."""

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FlightTables, Tables
from hpcsched.dispatching.core.state_arrays import with_length
from hpcsched.dispatching.decision import Decision
from hpcsched.simulation.latency import Latency, LatencyAccount
from hpcsched.workload.job_batches import NeedsPythonError
from hpcsched.workload.time_bounds import LONGEST

_LARGEST = 1 << 61
"""Largest loss of capacity while one decision is awaited, in amount × seconds."""


class ReplayFlight:
    """Due times of decisions that take simulated time, and tables of decisions made in Python."""

    def __init__(self, latency: Latency | None, types: int, rows: int, *, in_python: bool) -> None:
        self._account = None if latency is None else LatencyAccount(latency)
        self.tables = FlightTables(
            lost=None if latency is None else np.zeros(types, dtype=np.int64),
            dismissed=np.zeros(rows, dtype=np.int64) if in_python else None,
            decision_seconds=np.zeros(1) if in_python or latency is not None else None,
        )

    def with_rows(self, rows: int) -> None:
        """Extend the tables to a number of rows of jobs."""
        if self.tables.dismissed is not None:
            dismissed = with_length(self.tables.dismissed, rows)
            self.tables = self.tables._replace(dismissed=dismissed)

    def charge(self, tables: Tables, decision: Decision) -> None:
        """Set the due time of the latest decision."""
        assert self._account is not None
        assert self.tables.decision_seconds is not None
        counters, decision_time = tables.counters, float(self.tables.decision_seconds[0])
        shown = int(counters[codes.ASKED_SHOWN])
        seconds = self._account.charge(shown, decision, decision_time)
        if seconds > LONGEST or int(tables.totals.max()) * seconds > _LARGEST:
            raise NeedsPythonError("latencies that are too large")
        counters[codes.DUE] = counters[codes.NOW] + seconds
