"""A naive replay with devices: plain Python, nothing of the package's.

It knows one rule, a greedy list in order of submission: each job on the first nodes that have room,
as many units on each as fit, or where an allocator places it. Nodes have cores and devices; a unit
takes whole devices, the first free ones, or a share of one, the fullest that has room.
"""

from collections.abc import Callable
from typing import NamedTuple

SHARES = 1000


class Unit(NamedTuple):
    """Job: number, submit time, run time, units, cores and amount of devices of each, and nodes."""

    number: int
    submit: int
    run_time: int
    units: int
    cores: int
    amount: int
    nodes: tuple[int, ...] | None = None

    def may_use(self, node: int) -> bool:
        """Return whether its units may use a node; None: any."""
        return self.nodes is None or node in self.nodes


class Node:
    """Free cores, what is free of each device, and the amounts of devices of the units."""

    def __init__(self, cores: int, devices: int):
        self.cores, self.free, self.units = cores, [SHARES] * devices, []

    def places(self, unit: Unit) -> list[list[int]]:
        """Return the devices that a unit may take: of several, the first free ones."""
        if self.cores < unit.cores:
            return []
        if unit.amount > SHARES:
            count = unit.amount // SHARES
            chosen = [k for k, free in enumerate(self.free) if free == SHARES][:count]
            return [chosen] if len(chosen) == count and unit.amount % SHARES == 0 else []
        if unit.amount == 0:
            return [[]]
        return [[k] for k, free in enumerate(self.free) if free >= unit.amount]

    def chosen(self, unit: Unit) -> list[int] | None:
        """Return the devices of the fullest place, the first of several; None without room."""
        return min(self.places(unit), key=lambda one: [self.free[k] for k in one], default=None)

    def take(self, unit: Unit, devices: list[int]) -> None:
        """Take a unit's cores and devices."""
        for k in devices:
            self.free[k] -= min(unit.amount, SHARES)
        self.cores -= unit.cores
        if unit.amount:
            self.units.append(unit.amount)

    def give_back(self, unit: Unit, devices: list[int]) -> None:
        """Give back what a unit has taken."""
        self.cores += unit.cores
        if unit.amount:
            self.units.remove(unit.amount)
        for k in devices:
            self.free[k] += min(unit.amount, SHARES)


def place(nodes: list[Node], job: Unit) -> list[tuple[int, list[int]]] | None:
    """Take the units of a job; return node and devices of each, or None where they do not fit."""
    placed = []
    for k, node in enumerate(nodes):
        while (
            len(placed) < job.units and job.may_use(k) and (devices := node.chosen(job)) is not None
        ):
            node.take(job, devices)
            placed.append((k, devices))
    if len(placed) == job.units:
        return placed
    for k, devices in placed:
        nodes[k].give_back(job, devices)
    return None


def replay(
    sizes: list[tuple[int, int]],
    jobs: list[Unit],
    kind: type = Node,
    place: Callable = place,
    note_arrival: Callable[[Unit], None] = lambda _: None,
) -> dict[int, tuple]:
    """Return start, and node and devices of each unit, of each job, on nodes of a kind."""
    nodes = [kind(*size) for size in sizes]
    coming, waiting, running, found = list(jobs), [], [], {}
    while coming or waiting:
        now = min([job.submit for job in coming[:1]] + [end for end, *_ in running])
        for one in [one for one in running if one[0] <= now]:
            running.remove(one)
            for k, devices in one[2]:
                nodes[k].give_back(one[1], devices)
        while coming and coming[0].submit <= now:
            waiting.append(coming.pop(0))
            note_arrival(waiting[-1])
        for job in list(waiting):
            if (placed := place(nodes, job)) is not None:
                waiting.remove(job)
                running.append((now + job.run_time, job, placed))
                found[job.number] = now, placed
    return found
