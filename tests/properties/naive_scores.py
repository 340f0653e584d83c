"""Naive allocators of units with devices, by scores of nodes, in plain Python."""

from collections import Counter
from copy import deepcopy
from math import exp
from random import Random

from tests.properties import naive_devices
from tests.properties.naive_devices import SHARES, Node, Unit


def fragmentation(node: Node, size: tuple[int, int], usual: list[tuple[Unit, float]], k: int):
    """Return what is free of a node's devices, but no use to usual requests, on average over these.

    Each usual request comes with its share of all, and the node with its idle cores and devices.
    """
    lost = 0.0
    for unit, share in usual:
        runs = unit.amount > 0 and unit.may_use(k)
        if runs and Node(*size).places(unit) and node.places(unit):
            each = min(unit.amount, SHARES)
            lost += share * sum(free for free in node.free if free < each)
        else:
            lost += share * sum(node.free)
    return lost


def usual_requests(jobs: list[Unit]) -> list[tuple[Unit, float]]:
    """Return the most common requests, up to 95 % of the jobs, with their shares; 1 together."""
    counts = Counter(job[4:] for job in jobs).most_common()
    usual = []
    for key, count in counts:
        if sum(n for _, n in usual) >= 0.95 * len(jobs):
            break
        usual.append((Unit(0, 0, 0, 1, *key), count))
    covered = sum(count for _, count in usual)
    return [(unit, count / covered) for unit, count in usual]


class Scores:
    """An allocator by scores, by its name, for nodes of these numbers of cores and devices."""

    def __init__(self, name: str, sizes: list[tuple[int, int]], seed: int):
        self.name, self.sizes = name, sizes
        self.order = list(range(len(sizes)))
        Random(seed).shuffle(self.order)
        self.state = seed + 1
        self.largest = max(cores for cores, _ in sizes), max(n for _, n in sizes)
        self.arrived: list[Unit] = []
        self.learnt = 0
        self.usual: list[tuple[Unit, float]] = []

    def note_arrival(self, job: Unit) -> None:
        """Learn the usual requests with the first job, the 32nd, and then twice as many."""
        self.arrived.append(job)
        if not self.learnt or len(self.arrived) >= max(2 * self.learnt, 32):
            self.learnt = len(self.arrived)
            self.usual = usual_requests(self.arrived)

    def below(self, count: int) -> int:
        """Draw a number from 0 to count - 1, by xorshift64*."""
        x, most = self.state, (1 << 64) - 1
        x ^= x >> 12
        x = (x ^ x << 25) & most
        x ^= x >> 27
        self.state = x
        return int((x * 2685821657736338717 & most) // 2**11 / 2**53 * count)

    def place(self, nodes: list[Node], job: Unit) -> list[tuple[int, list[int]]] | None:
        """Take the units of a job; return node and devices of each, or None without room."""
        if naive_devices.place(deepcopy(nodes), job) is None:
            return None
        # Units of the job itself are no company.
        others = [Counter(map(size_of, node.units)) for node in nodes]
        placed = []
        for _ in range(job.units):
            room = [k for k, node in enumerate(nodes) if job.may_use(k) and node.places(job)]
            if self.name == "random":
                best = room[0]
                for count, k in enumerate(room[1:], 2):
                    best = k if self.below(count) == 0 else best
                devices = nodes[best].chosen(job)
                if 0 < job.amount <= SHARES:
                    for count, one in enumerate(nodes[best].places(job), 1):
                        devices = one if self.below(count) == 0 else devices
            else:
                found = [(self.score(k, nodes[k], job, others[k]), k) for k in room]
                (_, devices), best = max(found, key=lambda one: (one[0][0], -self.order[one[1]]))
            nodes[best].take(job, devices)
            placed.append((best, devices))
        return sorted(placed, key=lambda one: one[0])

    def score(self, k: int, node: Node, unit: Unit, others: Counter) -> tuple[int, list[int]]:
        """Return the score of a node for a unit, and the devices of the unit there."""
        devices = node.chosen(unit)
        if self.name == "fgd":
            return self.best_fall(k, node, unit)
        free = node.cores, sum(node.free)
        asked = unit.cores, unit.amount
        most = self.largest[0], self.largest[1] * SHARES
        triples = list(zip(free, asked, most, strict=True))
        if self.name in ("dot-product", "gpu-best-fit"):
            if self.name == "dot-product":
                part = sum(f / m * (a / m) for f, a, m in triples) / 2
            else:
                part = sum((f - a) / m / 2 for f, a, m in triples)
            return int(100 * (1 - part)), devices
        if unit.amount == 0:
            return 0, devices
        if self.name == "gpu-clustering":
            alike = others[size_of(unit.amount)] > 0
            alone = len(+others) == 1
            group = (75 if alone else 50) if alike else 0 if others else 25
            return group + 25 * (most[1] - free[1]) // most[1], devices
        assert self.name == "gpu-packing"
        return packing(node, unit, devices), devices

    def best_fall(self, k: int, node: Node, unit: Unit) -> tuple[int, list[int]]:
        """Return the score of the largest fall of fragmentation, and its devices."""
        before = fragmentation(node, self.sizes[k], self.usual, k)
        found = []
        for devices in node.places(unit):
            after = deepcopy(node)
            after.take(unit, devices)
            rise = fragmentation(after, self.sizes[k], self.usual, k) - before
            found.append((int(100 / (1 + exp(rise / SHARES))), devices))
        return max(found, key=lambda one: one[0])


def size_of(amount: int) -> int:
    """Return the size of a unit: 0 for a share, otherwise its number of devices."""
    return amount // SHARES


def packing(node: Node, unit: Unit, devices: list[int]) -> int:
    """Return the score of a node by whether its devices are in use."""
    unused = node.free.count(SHARES)
    if unused == len(node.free):
        return max(33 - unused, unused)
    if unit.amount >= SHARES:
        return max(50 - unit.amount // SHARES, 33)
    left = node.free[devices[0]]
    return 49 if left == SHARES else 100 - left * 100 // SHARES // 10
