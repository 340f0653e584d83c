"""A naive replay with devices: plain Python, nothing of the package's.

It knows one rule, a greedy list in order of submission: each job on the first nodes that have room,
as many units on each as fit. Nodes have cores and devices; a unit takes whole devices, the first
free ones, or a share of one, the fullest that has room.
"""

from typing import NamedTuple

SHARES = 1000


class Unit(NamedTuple):
    """Job: number, submit time, run time, units, and cores and amount of devices of each."""

    number: int
    submit: int
    run_time: int
    units: int
    cores: int
    amount: int


class Node:
    """Free cores, and what is free of each device."""

    def __init__(self, cores: int, devices: int):
        self.cores, self.free = cores, [SHARES] * devices

    def take(self, unit: Unit) -> list[int] | None:
        """Take a unit's cores and devices; return the devices, or None where it does not fit."""
        if self.cores < unit.cores:
            return None
        if unit.amount == 0:
            chosen = []
        elif unit.amount >= SHARES:
            count = unit.amount // SHARES
            chosen = [k for k, free in enumerate(self.free) if free == SHARES][:count]
            if len(chosen) < count or unit.amount % SHARES:
                return None
        else:
            room = [(free, k) for k, free in enumerate(self.free) if free >= unit.amount]
            if not room:
                return None
            chosen = [min(room)[1]]
        for k in chosen:
            self.free[k] -= min(unit.amount, SHARES)
        self.cores -= unit.cores
        return chosen

    def give_back(self, unit: Unit, devices: list[int]) -> None:
        """Give back what a unit has taken."""
        self.cores += unit.cores
        for k in devices:
            self.free[k] += min(unit.amount, SHARES)


def place(nodes: list[Node], job: Unit) -> list[tuple[int, list[int]]] | None:
    """Take the units of a job; return node and devices of each, or None where they do not fit."""
    placed = []
    for k, node in enumerate(nodes):
        while len(placed) < job.units and (devices := node.take(job)) is not None:
            placed.append((k, devices))
    if len(placed) == job.units:
        return placed
    for k, devices in placed:
        nodes[k].give_back(job, devices)
    return None


def replay(sizes: list[tuple[int, int]], jobs: list[Unit], kind: type = Node) -> dict[int, tuple]:
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
        for job in list(waiting):
            if (placed := place(nodes, job)) is not None:
                waiting.remove(job)
                running.append((now + job.run_time, job, placed))
                found[job.number] = now, placed
    return found
