"""What is free on every node over time."""

from bisect import bisect_left, bisect_right

import numpy as np

from hpcsched.system.allocation import Allocation
from hpcsched.system.request import Request
from hpcsched.system.space import held_amounts
from hpcsched.system.system import IntArray, System


class Timeline:
    """Free amounts as steps: `available[k]`, `[R, N]`, from `times[k]` to before `times[k + 1]`."""

    def __init__(self, system: System, now: int, available: IntArray) -> None:
        self.system = system
        self.times = [now]
        self.available = [available.copy()]

    def copy(self) -> "Timeline":
        """Return a timeline of its own with the same steps."""
        other = Timeline(self.system, self.times[0], self.available[0])
        other.times = self.times.copy()
        other.available = [step.copy() for step in self.available]
        return other

    def end(self, time: int, allocation: Allocation, request: Request) -> None:
        """Give an allocation's room back from a time on, which no step begins after."""
        if time != self.times[-1]:
            self.times.append(time)
            self.available.append(self.available[-1].copy())
        nodes, amounts = held_amounts(self.system, allocation, request)
        self.available[-1][:, nodes] += amounts

    def take(self, start: int, end: int, allocation: Allocation, request: Request) -> None:
        """Take an allocation's room from `start` to `end`."""
        nodes, amounts = held_amounts(self.system, allocation, request)
        first = self._begin_step(start)
        for step in range(first, self._begin_step(end)):
            self.available[step][:, nodes] -= amounts

    def at(self, time: int) -> IntArray:
        """Return what is free at a time, `[R, N]`, for the caller to read."""
        return self.available[bisect_right(self.times, time) - 1]

    def lowest(self, start: int, end: int) -> IntArray:
        """Return the least that is free on each node from `start` to `end`, `[R, N]`.

        `start` must be the beginning of a step.
        """
        first, upto = bisect_left(self.times, start), bisect_left(self.times, end)
        steps = self.available[first : max(upto, first + 1)]
        return steps[0] if len(steps) == 1 else np.minimum.reduce(steps)

    def _begin_step(self, time: int) -> int:
        """Return the step that begins at a time, split off its predecessor if need be."""
        step = bisect_left(self.times, time)
        if step == len(self.times) or self.times[step] != time:
            self.times.insert(step, time)
            self.available.insert(step, self.available[step - 1].copy())
        return step
