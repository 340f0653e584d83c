"""Machine that the header of a log states, and its comparison with a system."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hpcsched.registration import Caution
from hpcsched.system.space import room_for
from hpcsched.system.system import System

OTHER_MACHINE = "other-machine"
"""Rule of a caution about a header that states another machine than the system."""

_NODES = re.compile(r"MaxNodes:\s*(\d+)")
_PROCESSORS = re.compile(r"MaxProcs:\s*(\d+)")


class HeaderMachine(NamedTuple):
    """Machine of a log's header; 0 where the header is silent."""

    nodes: int
    processors: int

    @property
    def told(self) -> str:
        """The header's words."""
        parts = [f"MaxNodes: {self.nodes}"] * bool(self.nodes)
        return ", ".join([*parts, *[f"MaxProcs: {self.processors}"] * bool(self.processors)])


def header_machine(comments: Sequence[str]) -> HeaderMachine:
    """Return the machine that header comments state.

    Examples
    --------
    >>> header_machine(["MaxNodes: 16", "MaxProcs: 128"])
    HeaderMachine(nodes=16, processors=128)
    """
    text = "\n".join(comments)
    found = (pattern.search(text) for pattern in (_NODES, _PROCESSORS))
    return HeaderMachine(*(int(match[1]) if match else 0 for match in found))


def other_machine(
    stated: HeaderMachine, system: System, unit: Mapping[str, int]
) -> Iterator[Caution]:
    """Yield a caution if a header states another machine than the system.

    Numbers of nodes are not compared where the system has a node for each processor.

    Parameters
    ----------
    unit
        Declared request of a processor on nodes; empty if it differs from job to job.
    """
    processors = _processors(system, unit)
    # A node for each processor is a machine whose nodes nobody knows: only processors compare.
    only_processors = system.node_count == processors == stated.processors
    differs = [
        f"{called}: {number}, and the system has {there}"
        for called, number, there in (
            ("MaxNodes", 0 if only_processors else stated.nodes, f"{system.node_count} nodes"),
            ("MaxProcs", stated.processors, f"{processors} processors"),
        )
        if number and processors and number != int(there.split()[0])
    ]
    if differs:
        message = f"the log's header says {'; '.join(differs)}; is it the system of this log?"
        yield Caution(OTHER_MACHINE, message, "path")


def _processors(system: System, unit: Mapping[str, int]) -> int:
    """Return the number of processors of a system; 0 if a processor is nothing that it has."""
    totals = system.declared(system.totals)
    if unit.get("core"):
        return totals.get("core", 0) // unit["core"]
    if unit:
        known = set(unit) <= set(system.resource_types)
        return room_for(system, system.request(dict(unit))) if known else 0
    return totals.get("core", 0)
