"""Division of a job's request into equal units: by its nodes, or by its processors."""

from collections.abc import Mapping
from functools import lru_cache
from math import gcd
from typing import Literal, NamedTuple

from hpcsched.system.space import units_on_idle
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.policies import UnusableError

_DIVISIBLE = "mem"
"""Resource type that any number of units can share, rounded up: bytes, of which there are many."""


class EqualUnits(NamedTuple):
    """Equal units of a job.

    Attributes
    ----------
    units
        Number of units.
    amounts
        Declared amounts of each unit.
    uneven
        Whether the nodes of the log cannot have had these amounts.
    per_node
        Whether each unit stands for one node of the log.
    """

    units: int
    amounts: dict[str, int]
    uneven: bool = False
    per_node: bool = False


def on_nodes(amounts: Mapping[str, int], nodes: int) -> EqualUnits:
    """Return one unit for each node, with amounts rounded up where they cannot be divided equally.

    Memory is rounded up to whole bytes, which does not count as uneven.

    Parameters
    ----------
    amounts
        Declared amounts of the whole job.
    nodes
        Number of nodes, at least 1.
    """
    shared = {name: -(-amount // nodes) for name, amount in amounts.items()}
    uneven = any(amount % nodes for name, amount in amounts.items() if name != _DIVISIBLE)
    return EqualUnits(nodes, shared, uneven, per_node=True)


def smallest(amounts: Mapping[str, int]) -> EqualUnits:
    """Return the largest possible number of equal units: 8 cores and 2 GPUs make 2 units."""
    units = gcd(*(amount for name, amount in amounts.items() if name != _DIVISIBLE))
    return EqualUnits(units, {name: -(-amount // units) for name, amount in amounts.items()})


def divided(
    amounts: Mapping[str, int],
    parts: int,
    policy: Literal["spread", "up", "skip", "error"],
    what: Literal["nodes", "units"],
) -> EqualUnits:
    """Return the units of a job on its nodes; the policy decides on an uneven division.

    `spread` makes the smallest units, `up` rounds up. Otherwise UnusableError is raised, with the
    reason `uneven_nodes` or `uneven_units`.
    """
    found = on_nodes(amounts, parts)
    if not found.uneven or policy == "up":
        return found
    if policy == "spread":
        return smallest(amounts)._replace(uneven=True)
    told = ", ".join(f"{n} {name}" for name, n in amounts.items() if n and name != _DIVISIBLE)
    raise UnusableError(f"uneven_{what}", f"{told} cannot be shared equally among {parts} {what}")


def processors_per_node(system: System, request: tuple[int, ...]) -> int:
    """Return the number of processors with this request that fit on a node of the largest group.

    The largest group is that with the most nodes, the first among equals.
    """
    largest = max(range(len(system.groups)), key=lambda k: system.groups[k].count)
    first = sum(group.count for group in system.groups[:largest])
    return int(units_on_idle(system, Request(1, request))[first])


@lru_cache(maxsize=4096)
def whole_nodes(processors: int, per_node: int) -> tuple[int, int]:
    """Pack processors into units that fill whole nodes where possible.

    A unit has a whole node's processors if the request is a multiple of them, and otherwise the
    largest number that divides the request and fits on a node.

    Parameters
    ----------
    processors
        Number of requested processors, at least 1.
    per_node
        Number of processors of a node, at least 1.

    Examples
    --------
    >>> [whole_nodes(n, 20) for n in (40, 30, 7, 23)]
    [(2, 20), (2, 15), (1, 7), (23, 1)]
    """
    # Largest divisor first; 1 divides every number, so that there always is one.
    size = next(d for d in range(min(processors, per_node), 0, -1) if processors % d == 0)
    return processors // size, size
