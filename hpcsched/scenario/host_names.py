"""Names of a system's nodes on a real cluster, by node group."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import InitErrorDetails

from hpcsched.scenario.key_path import KeyPath
from hpcsched.scenario.refusal import refusal, refuse
from hpcsched.slurm.host_lists import expand


def _checked(nodes: dict[str, str]) -> dict[str, str]:
    """Return names of nodes by group after a check that none is named twice."""
    seen: set[str] = set()
    for group, text in nodes.items():
        try:
            names = expand(text)
        except ValueError as error:
            raise refuse(refusal("bad-value", str(error), text, at=(group,))) from None
        for name in names:
            if name in seen:
                message = f"the node {name} is named twice"
                raise refuse(refusal("duplicate-name", message, text, at=(group,)))
            seen.add(name)
    return nodes


HostNames = Annotated[
    dict[str, Annotated[str, Field(min_length=1)]],
    AfterValidator(_checked),
]
"""Names of the nodes of each group, such as `c[1-3,7]`, in the order of the nodes."""


def wrong_hosts(
    nodes: Mapping[str, str], counts: Mapping[str, int], at: KeyPath, rule: str
) -> Iterator[InitErrorDetails]:
    """Yield groups that the system lacks, or that have another number of nodes than is named."""
    for group, text in nodes.items():
        if group not in counts:
            message = f"the system has no node group {group!r}; there are: {', '.join(counts)}"
            yield refusal("unknown-group", message, text, at=(*at, group))
        # Names and nodes match one to one, by number within the group.
        elif len(expand(text)) != counts[group]:
            found = len(expand(text))
            message = f"the group {group} has {counts[group]} nodes, and {found} are named"
            yield refusal(rule, message, text, at=(*at, group))
