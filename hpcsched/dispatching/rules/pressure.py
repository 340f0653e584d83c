"""Pressure: the share of each resource type that is requested or in use."""

from collections.abc import Sequence
from itertools import chain

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.problem import DispatchingProblem


class Pressure:
    """Pressure on each resource type, computed once per round.

    It is the amount requested by waiting jobs and allocated to running jobs, over the system's
    total.
    """

    def __init__(self) -> None:
        self._problem: DispatchingProblem | None = None
        self._pressure: Sequence[float] = ()

    def of(self, room: Room) -> Sequence[float]:
        """Return the pressure in the round of a room.

        Returns
        -------
        Sequence[float]
            Pressure on each resource type, `[R]`; 1 for each outside of a round.
        """
        if room.problem is None:
            return [1.0] * len(room.system.totals)
        # By identity: problems are immutable, and each round has its own.
        if room.problem is not self._problem:
            self._problem, self._pressure = room.problem, _pressure(room.problem)
        return self._pressure


def _pressure(problem: DispatchingProblem) -> Sequence[float]:
    # Python integers do not overflow, whatever the length of the queue.
    wanted = [0] * len(problem.system.totals)
    for job in chain(problem.queue, (running.waiting for running in problem.running)):
        for r, amount in enumerate(job.unit_request):
            wanted[r] += amount * job.units
    shares = zip(wanted, problem.system.totals, strict=True)
    return [amount / total if total else 0.0 for amount, total in shares]
