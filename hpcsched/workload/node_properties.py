"""Named properties of nodes, in requests of users."""

import re
from collections.abc import Mapping, Sequence

from hpcsched.system.system import System


class NodeProperties:
    """Nodes by the name of a property.

    A name is a property in the scenario; or `cl_GROUP`, the nodes of a group; or `nodecpusN`, the
    nodes with N cores; or a node's host name: the group's name with the node's number in the group,
    counted from 1, and perhaps a domain.
    """

    def __init__(self, system: System, listed: Mapping[str, Sequence[str]]) -> None:
        self._system = system
        self._known: dict[str, frozenset[int] | None] = {}
        nodes: dict[str, range] = {}
        first = 0
        for group in system.groups:
            nodes[group.name] = range(first, first + group.count)
            first += group.count
        self._nodes = nodes
        for name, groups in listed.items():
            self._known[name] = frozenset(node for group in groups for node in nodes[group])

    def nodes_with(self, name: str) -> frozenset[int] | None:
        """Return the numbers of the nodes with a property; None for an unknown name."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> frozenset[int] | None:
        if name.startswith("cl_") and name[3:] in self._nodes:
            return frozenset(self._nodes[name[3:]])
        if cores := re.fullmatch(r"nodecpus([0-9]{1,9})", name):
            alike = [
                frozenset(self._nodes[group.name])
                for group in self._system.groups
                if group.resources.get("core") == int(cores[1])
            ]
            return frozenset().union(*alike) if alike else None
        for group, nodes in self._nodes.items():
            number = re.fullmatch(rf"{re.escape(group)}([1-9][0-9]{{0,8}})(\..*)?", name)
            if number and int(number[1]) <= len(nodes):
                return frozenset({nodes[int(number[1]) - 1]})
        return None
