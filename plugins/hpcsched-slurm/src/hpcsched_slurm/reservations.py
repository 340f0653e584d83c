"""Reservations: nodes that only some jobs may use, from one instant to another.

Jobs that ask for a reservation are left to Slurm, so that for all others it is an outage.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hpcsched.system.cluster import ClusterNode, ClusterOutage
from hpcsched.system.host_lists import expand
from hpcsched_slurm.syntax.slurm_lines import pairs_of
from hpcsched_slurm.versions import FAULT, FAULTS, fault_in_words

ONLY_RESERVED = frozenset({"MAINT", "RESERVED"})
"""Flags of nodes that are closed by a reservation alone."""


class Reservations(NamedTuple):
    """Reservations as outages, and sentences about those that are not understood."""

    outages: tuple[ClusterOutage, ...]
    warnings: tuple[str, ...]


NO_RESERVATIONS = Reservations((), ())


def read_reservations(reservations: Iterable[Mapping[str, Any]]) -> Reservations:
    """Return the reservations of nodes; one of a part of a node counts for the whole node.

    Parameters
    ----------
    reservations
        Objects in the form of v0.0.38.
    """
    found: list[ClusterOutage] = []
    told: list[str] = []
    for one in reservations:
        try:
            if FAULT in one:
                raise ValueError(one[FAULT])
            nodes = expand(str(one["node_list"] or ""))
            start, end = int(one["start_time"]), int(one["end_time"])
        except FAULTS as error:
            name, fault = one.get("name", "without a name"), fault_in_words(error)
            told.append(f"the reservation {name} is not understood, and left to Slurm: {fault}")
            continue
        if nodes:  # those of licences or of burst buffers have none
            found.append(ClusterOutage(str(one["name"]), nodes, start, end))
    return Reservations(tuple(found), tuple(told))


def reservations_of_text(text: str) -> list[Mapping[str, Any]]:
    """Return the reservations that `scontrol show reservations --oneliner` prints.

    Its times are those of this machine's place.
    """
    found: list[Mapping[str, Any]] = []
    for line in text.splitlines():
        pairs = pairs_of(line)
        if "reservationname" not in pairs:  # "No reservations in the system"
            continue
        one: dict[str, Any] = {"name": pairs["reservationname"], "node_list": pairs.get("nodes")}
        try:
            one["start_time"] = local_instant(pairs["starttime"])
            one["end_time"] = local_instant(pairs["endtime"])
        except FAULTS as error:
            one[FAULT] = fault_in_words(error)
        found.append(one)
    return found


def expected_back(
    node: ClusterNode, closed: Iterable[str], outages: Iterable[ClusterOutage], now: float
) -> ClusterNode:
    """Return a node with the end of its reservation, if nothing else closes it.

    Parameters
    ----------
    now
        The present instant, in seconds since 1970.
    """
    if not set(closed) or not set(closed) <= ONLY_RESERVED:
        return node
    ends = [one.end for one in outages if one.start <= now < one.end and node.name in one.nodes]
    return node._replace(back=max(ends)) if ends else node


def local_instant(text: str) -> int:
    """Return a time of this machine's place, as Slurm prints it, in seconds since 1970."""
    return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")))
