"""What is free once jobs have ended as predicted."""

import numpy as np

from hpcsched.dispatching.planning.releases import Releases
from hpcsched.dispatching.shapes import Shape, units_on
from hpcsched.system.system import IntArray, System


def available_at(time: int, available: IntArray, releases: Releases) -> IntArray:
    """Return what is free at a time, `[R, N]`, given what is free now."""
    upto = int(releases.times.searchsorted(time, side="right"))
    then = available.copy()
    for row, amounts in zip(then, releases.amounts[:upto].T, strict=True):
        np.add.at(row, releases.nodes[:upto], amounts)
    return then


def units_gained(system: System, available: IntArray, releases: Releases, shape: Shape) -> IntArray:
    """Return how many more units fit after each release than before it, `[K]`.

    `available`, `[R, N]`, is what is free before all of them.
    """
    by_node = releases.nodes.argsort(kind="stable")
    nodes, amounts = releases.nodes[by_node], releases.amounts[by_node]
    if not len(nodes):
        return nodes
    first = np.concatenate(([True], nodes[1:] != nodes[:-1])).nonzero()[0]
    released = amounts.cumsum(axis=0)
    others = (released[first] - amounts[first]).repeat(np.diff(first, append=len(nodes)), axis=0)
    fits = units_on(system, shape, nodes, available.T[nodes] + released - others)
    before = np.roll(fits, 1)
    before[first] = units_on(system, shape, nodes[first], available.T[nodes[first]])
    gained = np.empty_like(fits)
    gained[by_node] = fits - before
    return gained
