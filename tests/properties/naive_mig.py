"""Naive nodes with GPUs in MIG slices: plain Python, nothing of the package's.

An A100 of 40 GB as `nvidia-smi mig -lgipp` shows it: the first memory slices where each profile may
begin, and its number of memory slices; beside these its compute slices, of which there are 7.
"""

from itertools import combinations

from tests.properties.naive_devices import Unit

PLACEMENTS = {
    "1g.5gb": ([0, 1, 2, 3, 4, 5, 6], 1),
    "1g.10gb": ([0, 2, 4, 6], 2),
    "2g.10gb": ([0, 2, 4], 2),
    "3g.20gb": ([0, 4], 4),
    "4g.20gb": ([0], 4),
    "7g.40gb": ([0], 8),
}


def slices_of(name: str, start: int) -> list[int]:
    """Return the memory slices of a profile from one on."""
    return list(range(start, start + PLACEMENTS[name][1]))


def layouts() -> set[tuple[str, ...]]:
    """Return the profiles of all sets of disjoint placements."""
    every = [(name, start) for name, (starts, _) in PLACEMENTS.items() for start in starts]
    found = set()
    for count in range(1, 8):
        for some in combinations(every, count):
            taken = [one for name, start in some for one in slices_of(name, start)]
            if len(taken) == len(set(taken)):
                found.add(tuple(sorted(name for name, _ in some)))
    return found


class SlicedNode:
    """Free cores, and the free memory slices of each GPU."""

    def __init__(self, cores: int, devices: int):
        self.cores, self.free = cores, [set(range(8)) for _ in range(devices)]

    def chosen(self, unit: Unit) -> list[int] | None:
        """Return a unit's slices, or None where it does not fit.

        They are numbered by node. `unit.amount` is a number of GPUs, or the name of a profile,
        which goes to the fullest GPU, as far behind as may be.
        """
        if self.cores < unit.cores:
            return None
        if isinstance(unit.amount, int):
            whole = [k for k, free in enumerate(self.free) if len(free) == 8][: unit.amount]
            if len(whole) < unit.amount:
                return None
            chosen = [(k, one) for k in whole for one in range(8)]
        else:
            room = [
                (len(free), k, -start)
                for k, free in enumerate(self.free)
                for start in PLACEMENTS[unit.amount][0]
                if free.issuperset(slices_of(unit.amount, start))
            ]
            if not room:
                return None
            _, k, start = min(room)
            chosen = [(k, one) for one in slices_of(unit.amount, -start)]
        return [8 * k + one for k, one in chosen]

    def take(self, unit: Unit, slices: list[int]) -> None:
        """Take a unit's cores and slices."""
        for one in slices:
            self.free[one // 8].remove(one % 8)
        self.cores -= unit.cores

    def give_back(self, unit: Unit, slices: list[int]) -> None:
        """Give back what a unit has taken."""
        self.cores += unit.cores
        for one in slices:
            self.free[one // 8].add(one % 8)
