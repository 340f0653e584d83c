"""Outages: intervals in which nodes are out of service, announced or not.

Maintenance and advance reservations are announced: they are known from the start. Failures are not
announced: a node is suddenly gone, and returns some time later.
"""

from typing import Literal, NamedTuple

from hpcsched.system.system import System

OutageKind = Literal["maintenance", "reservation", "failure"]


class Outage(NamedTuple):
    """Outage of some nodes, in the half-open interval from `start` to `end`.

    Attributes
    ----------
    start
        First second of the outage, since the trace's origin.
    end
        Second after the outage; above `start`.
    nodes
        Node numbers, ascending.
    name
        The user's name for it; may be empty.
    """

    start: int
    end: int
    nodes: tuple[int, ...]
    kind: OutageKind
    name: str = ""

    @property
    def announced(self) -> bool:
        """True if the outage is known in advance."""
        return self.kind != "failure"

    @property
    def label(self) -> str:
        """Name for messages and reasons."""
        return f"{self.kind} {self.name}" if self.name else self.kind


class Outages(NamedTuple):
    """All outages of a run, ascending by start; possibly none.

    Attributes
    ----------
    requeue
        True: a job on a node that goes out of service is queued again and restarts from its
        beginning. False: it leaves the system as failed.
    told
        Counts of the records of a log that tells failures, by what became of them; empty without
        such a log.
    """

    all: tuple[Outage, ...] = ()
    requeue: bool = True
    told: tuple[tuple[str, int], ...] = ()


NO_OUTAGES = Outages()
"""Outages of a system that is always in service."""


def node_numbers(system: System) -> dict[str, int]:
    """Return the number of each node by its name (see `System.node_name`)."""
    names = (f"{group.name}-{k}" for group in system.groups for k in range(group.count))
    return {name: number for number, name in enumerate(names)}
