"""What is free of a system's pools from now on, given predicted ends and reservations."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from hpcsched.dispatching.pools import held_draws
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.pool_draws import Amounts, total
from hpcsched.system.pools import NEVER, next_change, period_of, settled_from


class PoolProfile:
    """Steps in time, each with what is free of every pool, `[P]`; the last one lasts for ever.

    What is free is negative where a capacity falls below what jobs draw that run by then. A job
    fits nevertheless if it draws nothing from that pool. Changes of capacity are worked in as far
    ahead as they are asked about, since there may be no end of them.
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        self._pools = pools = problem.system.pools
        self.names = tuple(pool.name for pool in pools)
        draws = held_draws(problem)
        offered = tuple(pool.capacity_at(problem.now) for pool in pools)
        drawn = total(draws, len(pools))
        self._times = [problem.now]
        self._free = [[a - b for a, b in zip(offered, drawn, strict=True)]]
        self._offered = offered
        # The instant of the last change that is worked in, or now.
        self._upto = problem.now
        # When the last job ends or reservation is over.
        self._last = problem.now
        for running, draw in zip(problem.running, draws, strict=True):
            self._last = max(self._last, running.predicted_end_time)
            self._change(running.predicted_end_time, NEVER, draw)

    def copy(self) -> "PoolProfile":
        """Return a profile of its own that says the same."""
        other = object.__new__(PoolProfile)
        other.__dict__.update(self.__dict__)
        other._times = self._times.copy()
        other._free = [free.copy() for free in self._free]
        return other

    def lacking(self, begin: int, end: int, draw: Amounts) -> str | None:
        """Return the name of a pool that has too little from `begin` to `end`; None if none has."""
        found = self._last_lack(begin, end, draw)
        return None if found is None else self.names[found[1]]

    def fits(self, begin: int, end: int, draw: Amounts) -> bool:
        """Say whether so much is free of all pools from `begin` to `end`."""
        return self._last_lack(begin, end, draw) is None

    def earliest(self, begin: int, run_time: int, draw: Amounts) -> int:
        """Return the earliest start from `begin` on at which so much stays free for a run time.

        NEVER if there is none.
        """
        period, settled = period_of(self._pools), settled_from(self._pools)
        # Later on nothing is taken, and each period is like the one before.
        limit = max(begin, self._last, settled) + period
        start = begin
        while start <= limit:
            found = self._last_lack(start, start + run_time, draw)
            if found is None:
                return start
            after = found[0] + 1
            # The step ends with the next one, or with a change that is not worked in yet.
            known = self._times[after] if after < len(self._times) else NEVER
            start = min(known, next_change(self._pools, self._upto))
        return NEVER

    def take(self, begin: int, end: int, draw: Amounts) -> None:
        """Take so much from `begin` to `end`."""
        self._last = max(self._last, end)
        self._change(begin, end, [-amount for amount in draw])

    def give_back(self, begin: int, end: int, draw: Amounts) -> None:
        """Undo a `take`."""
        self._change(begin, end, draw)

    def _last_lack(self, begin: int, end: int, draw: Amounts) -> tuple[int, int] | None:
        """Return the last step from `begin` to `end` in which too little is free, and the pool."""
        if not any(draw):
            return None
        self._reach(end)
        first = bisect_right(self._times, begin) - 1
        for k in range(bisect_left(self._times, end) - 1, first - 1, -1):
            for p, (amount, free) in enumerate(zip(draw, self._free[k], strict=True)):
                if amount and amount > free:
                    return k, p
        return None

    def _reach(self, time: int) -> None:
        """Work in the changes of capacity up to a time."""
        while (change := next_change(self._pools, self._upto)) < time:
            offered = tuple(pool.capacity_at(change) for pool in self._pools)
            self._change(
                change, NEVER, [a - b for a, b in zip(offered, self._offered, strict=True)]
            )
            self._upto, self._offered = change, offered

    def _change(self, begin: int, end: int, more: Sequence[int]) -> None:
        """Have so much more free, `[P]`, from `begin` to `end`."""
        if not any(more):
            return
        first, last = self._split(begin), self._split(end)
        for free in self._free[first:last]:
            for p, amount in enumerate(more):
                free[p] += amount

    def _split(self, time: int) -> int:
        """Return the step that begins at a time, which is made if there is none."""
        k = bisect_right(self._times, time) - 1
        if self._times[k] == time:
            return k
        self._times.insert(k + 1, time)
        self._free.insert(k + 1, self._free[k].copy())
        return k + 1
