"""Temperatures of nodes: an observer that models them, and an allocator that minds them."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from hpcsched import (
    Allocation,
    Interruption,
    JobRecord,
    NodeAllocation,
    Observer,
    Room,
    RunningJob,
    fill,
)

NAME = "temperature"
"""What the observer is called, and the data that it gives."""


class Temperature(Observer):
    """Models the temperature of each node, and tells dispatchers of it.

    A node on which a job runs comes nearer to `busy` °C, and an idle one to `idle` °C, by a factor
    of e in every `warming` seconds. All nodes are idle for long at the start.
    """

    def __init__(self, nodes: int, idle: float, busy: float, warming: int) -> None:
        self._idle, self._busy, self._warming = idle, busy, warming
        self._degrees = [idle] * nodes
        self._since = [0] * nodes
        self._jobs_on: Counter[int] = Counter()

    def job_started(self, job: RunningJob) -> None:
        """Note which nodes begin to warm up."""
        self._change(job.allocation, job.start_time, 1)

    def job_interrupted(self, interruption: Interruption) -> None:
        """Note which nodes may begin to cool down."""
        self._change(interruption.allocation, interruption.end_time, -1)

    def job_ended(self, record: JobRecord) -> None:
        """Note which nodes may begin to cool down; of a job that failed that is known."""
        where, end = record.allocation, record.end_time
        if where is not None and end is not None and record.state != "failed":
            self._change(where, end, -1)

    def additional_data(self, now: int) -> Mapping[str, object]:
        """Return the temperature of each node in °C, `[N]`, under the name `temperature`."""
        return {NAME: tuple(self._at(node, now) for node in range(len(self._degrees)))}

    def _at(self, node: int, now: int) -> float:
        goal = self._busy if self._jobs_on[node] else self._idle
        nearer = math.exp((self._since[node] - now) / self._warming)
        return goal + (self._degrees[node] - goal) * nearer

    def _change(self, allocation: Allocation, now: int, jobs: int) -> None:
        for node in allocation.nodes:
            self._degrees[node] = self._at(node, now)
            self._since[node] = now
            self._jobs_on[node] += jobs


class Coolest:
    """Places jobs on the coolest nodes with room, where an observer tells of temperatures.

    Of equally cool nodes, and where nothing is told, the lowest numbers come first.
    """

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units."""
        told = {} if room.problem is None else room.problem.additional.get(NAME, {})
        degrees = told.get(NAME)
        if not isinstance(degrees, tuple):
            return fill(units, room.fits)
        return fill(units, room.fits, np.argsort(degrees, kind="stable"))
