"""Room on nodes: what fits, which nodes come first, and what is free over a stretch of time.

What is free is a list of lists: an amount for each node and resource type.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hpcsched.system.system import System
from hpcsched.workload.job import Job

Free = list[list[int]]
Placed = dict[int, int]
"""How many units are on which node."""


class Allocated(NamedTuple):
    """Placement of a running job, with its start and predicted end."""

    job: Job
    placed: Placed
    start: int
    end: int


class Closed(NamedTuple):
    """Nodes that are out of service from one time to before another."""

    start: int
    end: int
    nodes: Sequence[int]


def idle(system: System) -> Free:
    """Return what is free if nothing runs."""
    return [list(map(int, row)) for row in system.capacity]


def allocated_on(system: System, job: Job, node: int, units: int) -> list[int]:
    """Return the amounts that units of a job take of a node: all of it if they are exclusive."""
    if job.exclusive:
        return list(map(int, system.capacity[node]))
    return [units * amount for amount in job.unit_request]


def take(system: System, free: Free, job: Job, placed: Placed, sign: int = 1) -> Free:
    """Return what is left if the units are placed, or with the sign -1 if they go."""
    left = [list(row) for row in free]
    for node, units in placed.items():
        for r, amount in enumerate(allocated_on(system, job, node, units)):
            left[node][r] -= sign * amount
    return left


def fits(system: System, free: Free, job: Job) -> list[int]:
    """Return how many units of a job each node can hold."""
    counts = []
    for node, row in enumerate(free):
        pairs = zip(row, job.unit_request, strict=True)
        # A closed node has nothing left, and what a job holds there before it closes is below that.
        count = max(min(have // want for have, want in pairs if want), 0)
        if job.one_unit_per_node:
            count = min(count, 1)
        if job.exclusive and row != list(map(int, system.capacity[node])):
            count = 0
        group = system.groups[int(system.group_of[node])].name
        if job.node_groups is not None and group not in job.node_groups:
            count = 0
        if job.allowed_nodes is not None and node not in job.allowed_nodes:
            count = 0
        counts.append(count)
    return counts


def fill(units: int, counts: Sequence[int], order: Sequence[int]) -> Placed:
    """Place units on nodes in an order, as many on each as fit."""
    placed: Placed = {}
    for node in order:
        here = min(counts[node], units)
        if here > 0:
            placed[node] = here
            units -= here
    assert units == 0
    return placed


def free_share(system: System, free: Free, node: int) -> float:
    """Return the mean free share of the resource types that a node has."""
    capacity = list(map(int, system.capacity[node]))
    shares = [have / all_ for have, all_ in zip(free[node], capacity, strict=True) if all_]
    return sum(shares) / max(len(shares), 1)


def preference(
    allocator: str,
    system: System,
    free: Free,
    job: Job,
    pressure: Sequence[float],
    *,
    scarce_resources: Sequence[str] | None = None,
) -> list[int]:
    """Return the nodes in the order in which an allocator uses them.

    `scarce_resources` are names of resource types; without any, what not every node has is scarce.
    """
    if allocator in ("weighted", "balanced", "hybrid"):
        nodes = range(len(free))
        ranks = [free_share(system, free, node) for node in nodes]
        if allocator != "balanced":
            ranks = weights(system, free, job, pressure)
        turns = [0.0 for _ in nodes]
        if allocator != "weighted":
            turns = in_turns(system, free, job, ranks, scarce_resources)
        return sorted(nodes, key=lambda node: (turns[node], ranks[node], node))

    def rank(node: int) -> tuple[float, ...]:
        if allocator == "first-fit":
            return (node,)
        price = offer = 0.0
        for have, want, total, wanted in zip(
            free[node], job.unit_request, system.totals, pressure, strict=True
        ):
            if allocator == "keep-scarce" and not want and total:
                price += wanted * (have / total)
                offer += have / total
        return (price, offer, free_share(system, free, node), node)

    return sorted(range(len(free)), key=rank)


def weights(system: System, free: Free, job: Job, pressure: Sequence[float]) -> list[float]:
    """Return what would be left on each node of what is wanted."""
    left = []
    for row, count in zip(free, fits(system, free, job), strict=True):
        here, weight = min(count, job.units), 0.0
        for have, want, total, wanted in zip(
            row, job.unit_request, system.totals, pressure, strict=True
        ):
            if total:
                weight += wanted * (have - want * here) / total
        left.append(weight)
    return left


def in_turns(
    system: System,
    free: Free,
    job: Job,
    ranks: Sequence[float],
    scarce_resources: Sequence[str] | None = None,
) -> list[float]:
    """Return when nodes have their turns: 0 for those with nothing scarce that is not asked for.

    Scarce is what is named, or what not every node has. Nodes that have the same of it are of a
    kind.
    """
    has = [[bool(amount) for amount in row] for row in system.capacity]
    scarce = [r for r, want in enumerate(job.unit_request) if not want]
    if scarce_resources is None:
        scarce = [r for r in scarce if not all(row[r] for row in has)]
    else:
        scarce = [r for r in scarce if system.resource_types[r] in scarce_resources]
    kinds = [tuple(r for r in scarce if row[r]) for row in has]
    counts, turns = fits(system, free, job), [0.0] * len(free)
    for kind in set(kinds) - {()}:
        members = [node for node, of in enumerate(kinds) if of == kind]
        share = 0.0
        for r in kind:
            share += sum(free[node][r] for node in members) / system.totals[r]
        members = [node for node in members if counts[node]]
        for k, node in enumerate(sorted(members, key=lambda node: (ranks[node], node))):
            turns[node] = (k + 0.5) / max(share / len(kind), 1e-9)
    return turns


def free_at(
    system: System, time: int, now: int, holding: Sequence[Allocated], closed: Sequence[Closed] = ()
) -> Free:
    """Return what is free at a time from now on; what started by now holds until its end."""
    free = idle(system)
    for held in holding:
        if (held.start <= time or held.start <= now) and time < held.end:
            free = take(system, free, held.job, held.placed)
    for out in closed:
        if out.start <= time < out.end:
            for node in out.nodes:
                free[node] = [0] * len(system.totals)
    return free
