"""What is free on every node over time."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

import numpy as np

from hpcsched.system.allocation import Allocation
from hpcsched.system.request import Request
from hpcsched.system.space import held_amounts, units_that_fit
from hpcsched.system.system import IntArray, System

End = tuple[int, Allocation, Request]
"""When an allocation's room comes free, and whose it is."""


NEVER = 1 << 62
"""Later than any time."""


class Timeline:
    """Free amounts as steps: `available[k]`, `[R, N]`, from `times[k]` to before `times[k + 1]`."""

    def __init__(self, system: System, times: list[int], available: IntArray) -> None:
        self.system = system
        self.times = times
        # Longer than `times`, so that steps can be split without copying them all.
        self._steps = available

    @classmethod
    def of_ends(
        cls, system: System, now: int, available: IntArray, ends: Iterable[End]
    ) -> "Timeline":
        """Return what is free from now on, given what is free now and what ends when."""
        ends = sorted(ends, key=lambda end: end[0])
        times = [now, *dict.fromkeys(time for time, _, _ in ends)]
        steps = np.zeros((2 * len(times) + 8, *available.shape), dtype=np.int64)
        steps[0] = available
        step = 0
        for time, allocation, request in ends:
            if times[step] != time:
                step += 1
            nodes, amounts = held_amounts(system, allocation, request)
            steps[step][:, nodes] += amounts
        np.cumsum(steps[: len(times)], axis=0, out=steps[: len(times)])
        return cls(system, times, steps)

    def copy(self) -> "Timeline":
        """Return a timeline of its own with the same steps."""
        return Timeline(self.system, self.times.copy(), self._steps.copy())

    @property
    def available(self) -> IntArray:
        """What is free in each step, `[T, R, N]`, for the caller to read."""
        return self._steps[: len(self.times)]

    def take(self, start: int, end: int, allocation: Allocation, request: Request) -> None:
        """Take an allocation's room from `start` to `end`."""
        nodes, amounts = held_amounts(self.system, allocation, request)
        first, upto = self._begin_step(start), self._begin_step(end)
        self._steps[first:upto, :, nodes] -= amounts

    def lowest(self, start: int, end: int) -> IntArray:
        """Return the least that is free on each node from `start` to `end`, `[R, N]`.

        `start` must be the beginning of a step.
        """
        first, upto = bisect_left(self.times, start), bisect_left(self.times, end)
        lowest: IntArray = self._steps[first : max(upto, first + 1)].min(axis=0)
        return lowest

    def at(self, time: int) -> IntArray:
        """Return what is free at a time, `[R, N]`, for the caller to read."""
        step: IntArray = self._steps[bisect_right(self.times, time) - 1]
        return step

    def starts(self, request: Request, run_time: int) -> list[int]:
        """Return the beginnings of steps from which on enough units fit at each instant.

        Whether they fit on the same nodes throughout the run time is for the caller to see.
        """
        fits = units_that_fit(self.system, self.available.swapaxes(0, 1), request).sum(axis=1)
        blocked_from = NEVER
        starts = []
        for time, count in zip(reversed(self.times), reversed(fits.tolist()), strict=True):
            if count < request.units:
                blocked_from = time
            elif time + run_time <= blocked_from:
                starts.append(time)
        starts.reverse()
        return starts

    def _begin_step(self, time: int) -> int:
        """Return the step that begins at a time, split off its predecessor if need be."""
        step = bisect_left(self.times, time)
        if step == len(self.times) or self.times[step] != time:
            count = len(self.times)
            if count == len(self._steps):
                self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._steps[step + 1 : count + 1] = self._steps[step:count]
            self._steps[step] = self._steps[step - 1]
            self.times.insert(step, time)
        return step
