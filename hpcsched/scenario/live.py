"""The `live:` block: the real cluster on which a scenario's dispatcher advises or places jobs."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import InitErrorDetails

from hpcsched.parameters import Listed, OutputPath, Params, PositiveDuration, Selects
from hpcsched.scenario.choices import NamedChoice
from hpcsched.scenario.faults import refusal, refuse
from hpcsched.system.host_lists import expand

LONGEST_RELEASE = 24 * 60 * 60
"""Largest number of seconds that jobs are held without a heartbeat: a day."""


def _checked(nodes: dict[str, str]) -> dict[str, str]:
    """Return names of nodes by group after a check that none is named twice."""
    seen: set[str] = set()
    for group, text in nodes.items():
        try:
            names = expand(text)
        except ValueError as error:
            raise refuse(refusal("bad-value", str(error), at=(group,))) from None
        for name in names:
            if name in seen:
                message = f"the node {name} is named twice"
                raise refuse(refusal("duplicate-name", message, at=(group,)))
            seen.add(name)
    return nodes


HostNames = Annotated[dict[str, Annotated[str, Field(min_length=1)]], AfterValidator(_checked)]
"""Names of the nodes of each group, such as `c[1-3,7]`, in the order of the nodes."""


def wrong_hosts(nodes: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[InitErrorDetails]:
    """Yield refusals of unknown groups, and of names that are more or fewer than nodes."""
    for group, hosts in nodes.items():
        named = len(expand(hosts))
        if group not in counts:
            message = f"the system has no node group {group!r}; there are: {', '.join(counts)}"
            yield refusal("unknown-group", message, at=("live", "nodes", group))
        # Names and nodes match one to one, by number within the group.
        elif named != counts[group]:
            message = f"the group {group} has {counts[group]} nodes, and {named} are named"
            yield refusal("not-live", message, at=("live", "nodes", group))
    missing = [group for group in counts if group not in nodes]
    if missing:
        message = f"the names of the nodes of {', '.join(missing)} are missing"
        yield refusal("not-live", message, at=("live", "nodes"))


class LiveSettings(Params):
    """A real cluster, and the intervals at which it is read."""

    workload_manager: Annotated[NamedChoice, Selects("workload_manager")]
    """Workload manager of the cluster: the interface that reads and changes it."""
    partitions: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Listed] = Field(
        min_length=1
    )
    """Partitions of the cluster to dispatch; jobs of other partitions are left alone, and their
    resources are not free."""
    nodes: HostNames
    """The names of each node group's nodes on the cluster, such as c[1-3,7]; nodes of the cluster
    that are not named are not used."""
    folder: OutputPath = "live"
    """Folder of the driver's lock, journal and heartbeat; relative to the scenario."""
    poll: PositiveDuration = 1
    """Seconds between two readings of the cluster; a change starts a round."""
    tick: PositiveDuration = 10
    """Seconds after which a round takes place without any change."""
    round_limit: PositiveDuration = 5
    """Seconds after which a round is answered by list scheduling instead."""
    placement_timeout: PositiveDuration = 30
    """Seconds after which a placed job that has not started is taken back."""
    release_after: Annotated[PositiveDuration, Field(le=LONGEST_RELEASE)] = 60
    """Seconds without a heartbeat after which the watchdog hands waiting jobs to the cluster's own
    scheduler; a day at most."""
