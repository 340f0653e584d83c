"""Pressure: how much of each resource type is wanted or in use."""

from collections.abc import Sequence
from itertools import chain

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.problem import DispatchingProblem


class Pressure:
    """The pressure on each resource type, worked out once for each round.

    It is what waiting jobs ask for and running jobs hold, as a share of what the whole system has.
    """

    def __init__(self) -> None:
        self._problem: DispatchingProblem | None = None
        self._pressure: Sequence[float] = ()

    def of(self, room: Room) -> Sequence[float]:
        """Return the pressure in a room's round, `[R]`; 1 for each type where there is no round."""
        if room.problem is None:
            return [1.0] * len(room.system.totals)
        if room.problem is not self._problem:
            self._problem, self._pressure = room.problem, _pressure(room.problem)
        return self._pressure


def _pressure(problem: DispatchingProblem) -> Sequence[float]:
    wanted = [0] * len(problem.system.totals)
    for job in chain(problem.queue, (running.waiting for running in problem.running)):
        for r, amount in enumerate(job.unit_request):
            wanted[r] += amount * job.units
    shares = zip(wanted, problem.system.totals, strict=True)
    return [amount / total if total else 0.0 for amount, total in shares]
