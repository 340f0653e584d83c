"""Limits on the use of resources over time, such as `GrpTRESMins`, with the usage so far.

slurmctld alone knows the usage, and `scontrol show assoc_mgr` prints it beside the limits:
`GrpTRESRunMins=cpu=40(30),mem=N(7500)` is a limit of 40 CPU minutes, of which 30 are in use, and no
limit on memory. Source: answers of Slurm 22.05.8; the page "Resource Limits" of SchedMD.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hpcsched_slurm.syntax.slurm_lines import pairs_of

TIME_LIMITS = ("GrpTRESMins", "GrpTRESRunMins", "GrpWall")
"""Limits that a group of jobs uses up over time; `MaxTRESMins` is one of each job."""

_NUMBERED = re.compile(r"(.*?)(?:\(\d+\))?")
"""A name and its number: `small(2)`, `root(0)`."""
_AMOUNTS = re.compile(r"(?:[^=,]+=(?:N|\d+)\(\d+\)(?:,|$))*")
_AMOUNT = re.compile(r"([^=,]+)=(N|\d+)\((\d+)\)")
_WALL = re.compile(r"(N|\d+)\((\d+)(?:\.\d+)?\)")

# A large site has many thousands of associations, nearly all without such a limit. The repetition
# is possessive: what follows it is something else than an amount without a limit.
_LIMITED = re.compile(r" Grp(?:Wall=(?!N\()|TRES(?:Run)?Mins=(?:[^ ,=]+=N\(\d+\),?)*+(?=\S))")


class Metered(NamedTuple):
    """Maximum and usage of something, in minutes; `most` is None without a limit."""

    most: int | None
    used: int


_NOTHING: Mapping[str, Metered] = MappingProxyType({})


class TimeLimits(NamedTuple):
    """Limits over time of a QOS or an association, by trackable resource.

    Attributes
    ----------
    total
        Resource minutes of all its jobs so far: `GrpTRESMins`.
    running
        Resource minutes that its running jobs may still take: `GrpTRESRunMins`.
    wall
        Minutes of all its jobs so far: `GrpWall`.
    """

    total: Mapping[str, Metered] = _NOTHING
    running: Mapping[str, Metered] = _NOTHING
    wall: Metered = Metered(None, 0)

    @property
    def limited(self) -> bool:
        """True if there is a limit."""
        return bool(self.total or self.running) or self.wall.most is not None


NO_TIME_LIMITS = TimeLimits()

AssociationKey = tuple[str, str, str, str]
"""Cluster, account, user and partition of an association; user and partition may be empty."""


class TimeUsage(NamedTuple):
    """Limits over time of all QOS and associations, as they are at an instant.

    Attributes
    ----------
    at
        Seconds since 1970: jobs that start later are not part of the usage.
    """

    at: float
    qos: Mapping[str, TimeLimits]
    associations: Mapping[AssociationKey, TimeLimits]

    @property
    def limited(self) -> bool:
        """True if there is a limit."""
        return any(one.limited for one in (*self.qos.values(), *self.associations.values()))


def read_time_usage(text: str, at: float) -> TimeUsage:
    """Return the limits over time of all QOS and associations.

    Parameters
    ----------
    text
        Output of `scontrol --oneliner show assoc_mgr flags=assoc,qos`.
    at
        Instant of it, in seconds since 1970.

    Raises
    ------
    ValueError
        If it is not understood.
    """
    qos: dict[str, TimeLimits] = {}
    associations: dict[AssociationKey, TimeLimits] = {}
    for line in text.splitlines():
        if not line.startswith(("QOS=", "ClusterName=")):
            continue
        limited = _LIMITED.search(line) is not None
        pairs = pairs_of(line if limited else line.partition(" Grp")[0])
        if "qos" in pairs:
            qos[_name(pairs["qos"])] = _limits(pairs)
        else:
            names = (_name(pairs.get(k, "")) for k in ("account", "username", "partition"))
            account, user, partition = names
            associations[pairs["clustername"], account, user, partition] = _limits(pairs)
    if not qos and not associations:
        shown = " ".join(text.split())[:60]
        raise ValueError(f"expected QOS and associations, found {shown!r}")
    return TimeUsage(at, qos, associations)


def _name(text: str) -> str:
    found = _NUMBERED.fullmatch(text)
    return text if found is None else found[1]


def _limits(pairs: Mapping[str, str]) -> TimeLimits:
    total, running = _amounts(pairs, "grptresmins"), _amounts(pairs, "grptresrunmins")
    found = _WALL.fullmatch(pairs.get("grpwall", "N(0)"))
    if found is None:
        raise ValueError(f"expected GrpWall such as 100(7.50), found {pairs['grpwall']!r}")
    wall = Metered(_most(found[1]), int(found[2]))
    limited = {name for of in (total, running) for name, one in of.items() if one.most is not None}
    if not limited and wall.most is None:
        return NO_TIME_LIMITS
    # What runs counts against both limits of a resource.
    return TimeLimits(
        {name: one for name, one in total.items() if name in limited},
        {name: one for name, one in running.items() if name in limited},
        wall,
    )


def _amounts(pairs: Mapping[str, str], key: str) -> dict[str, Metered]:
    text = pairs.get(key, "")
    if not _AMOUNTS.fullmatch(text):
        raise ValueError(f"expected a limit and usage such as cpu=40(30), found {text[:60]!r}")
    return {name: Metered(_most(most), int(used)) for name, most, used in _AMOUNT.findall(text)}


def _most(text: str) -> int | None:
    return None if text == "N" else int(text)
