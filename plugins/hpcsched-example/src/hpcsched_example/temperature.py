"""Temperatures of nodes: an observer that models them, and an allocator that uses them."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from hpcsched import (
    Interruption,
    JobRecord,
    NodeAllocation,
    Observer,
    Room,
    RunningJob,
    fill,
)

NAME = "temperature"
"""Name of the observer, and of its data."""


class Temperature(Observer):
    """Observer that models the temperature of each node, as additional data for dispatchers.

    The temperature of a node approaches `busy` while a job runs on it, and `idle` otherwise, by a
    factor of e in every `warming` seconds. It is `idle` at the start.

    Parameters
    ----------
    nodes
        Number of nodes.
    idle, busy
        Temperatures, in °C.
    warming
        Time constant, in seconds.
    """

    def __init__(self, nodes: int, idle: float, busy: float, warming: int) -> None:
        self._idle, self._busy, self._warming = idle, busy, warming
        self._degrees = [idle] * nodes
        self._since = [0] * nodes
        self._jobs_on: Counter[int] = Counter()

    def job_started(self, job: RunningJob) -> None:
        """Let the nodes of the job warm up."""
        self._change(job.allocation, job.start_time, 1)

    def job_interrupted(self, interruption: Interruption) -> None:
        """Let the nodes of the attempt cool down, unless other jobs run there."""
        self._change(interruption.allocation, interruption.end_time, -1)

    def job_ended(self, record: JobRecord) -> None:
        """Let the nodes of the job cool down; those of a failed one do so already."""
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

    def _change(self, allocation: NodeAllocation, now: int, jobs: int) -> None:
        for node in allocation.nodes:
            self._degrees[node] = self._at(node, now)
            self._since[node] = now
            self._jobs_on[node] += jobs


class Coolest:
    """Allocator of the coolest nodes with room.

    Of equally cool nodes, and without data of the observer, the lowest numbers come first.
    """

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Place the units."""
        told = {} if room.problem is None else room.problem.additional.get(NAME, {})
        degrees = told.get(NAME)
        if not isinstance(degrees, tuple):
            return fill(units, room.fits)
        return fill(units, room.fits, np.argsort(degrees, kind="stable"))
