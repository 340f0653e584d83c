"""What a requested processor means: how a number of processors becomes units of a job."""

from functools import lru_cache

from hpcsched.system.space import slots_per_node
from hpcsched.system.system import System


def processors_per_node(system: System, request: tuple[int, ...]) -> int:
    """Return how many processors with this request a node of the largest group holds.

    The largest group is that with the most nodes, the first among equals.
    """
    largest = max(range(len(system.groups)), key=lambda k: system.groups[k].count)
    first = sum(group.count for group in system.groups[:largest])
    return int(slots_per_node(system, request)[first])


@lru_cache(maxsize=4096)
def whole_nodes(processors: int, per_node: int) -> tuple[int, int]:
    """Return how many units a request is packed into, and how many processors each of them has.

    A unit has a whole node's processors where the request is a multiple of them, and otherwise the
    largest number that divides the request and fits on a node. On nodes of 20, a request for 40 is
    2 units of 20, one for 30 is 2 of 15, one for 7 is 1 of 7, and one for 23 is 23 of 1.
    """
    if processors < 1 or per_node < 1:
        raise ValueError("expected at least one processor and one that fits on a node")
    size = next(d for d in range(min(processors, per_node), 0, -1) if processors % d == 0)
    return processors // size, size
