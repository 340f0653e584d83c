"""Decisions that take simulated time, in a replay of columns."""

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FlightTables, Tables
from hpcsched.dispatching.decision import NOTHING
from hpcsched.simulation.latency import Latency, LatencyAccount
from hpcsched.workload.columns import NeedsPythonError
from hpcsched.workload.time_bounds import LONGEST

_LARGEST = 1 << 61
"""What is lost while one decision is awaited may be so much, in amount × seconds."""


class ArrayFlight:
    """When decisions are due, where they take simulated time."""

    def __init__(self, latency: Latency | None, types: int) -> None:
        self._account = None if latency is None else LatencyAccount(latency)
        self.tables = FlightTables()
        if latency is not None:
            self.tables = FlightTables(np.zeros(types, dtype=np.int64), np.zeros(1))

    def charge(self, tables: Tables) -> None:
        """Say when the decision that was just made is due."""
        assert self._account is not None
        assert self.tables.decision_seconds is not None
        counters, decision_time = tables.counters, float(self.tables.decision_seconds[0])
        shown = int(counters[codes.ASKED_SHOWN])
        seconds = self._account.charge(shown, NOTHING, decision_time)
        if seconds > LONGEST or int(tables.totals.max()) * seconds > _LARGEST:
            raise NeedsPythonError("latencies that are too large")
        counters[codes.DUE] = counters[codes.NOW] + seconds
