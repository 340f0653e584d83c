"""Limits on the use of resources over time, such as `GrpTRESMins`, with the usage so far.

slurmctld alone knows the usage, and `scontrol show assoc_mgr` prints it beside the limits:
`GrpTRESRunMins=cpu=40(30),mem=N(7500)` is a limit of 40 CPU minutes, of which 30 are in use, and no
limit on memory. Source: answers of Slurm 22.05.8; the page "Resource Limits" of SchedMD.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.limits import (
    NO_TIME_LIMITS,
    Amounts,
    AssociationKey,
    Metered,
    TimeLimits,
    TimeUsage,
)
from hpcsched.system.policies import MINUTES, JobBound, JobRules, Policies, minutes_of
from hpcsched_slurm.syntax.slurm_lines import pairs_of

_NUMBERED = re.compile(r"(.*?)(?:\(\d+\))?")
"""A name and its number: `small(2)`, `root(0)`."""
_AMOUNTS = re.compile(r"(?:[^=,]+=(?:N|\d+)\(\d+\)(?:,|$))*")
_AMOUNT = re.compile(r"([^=,]+)=(N|\d+)\((\d+)\)")
_WALL = re.compile(r"(N|\d+)\((\d+)(?:\.\d+)?\)")

# A large site has many thousands of associations, nearly all without such a limit. The repetition
# is possessive: what follows it is something else than an amount without a limit.
_LIMITED = re.compile(r" Grp(?:Wall=(?!N\()|TRES(?:Run)?Mins=(?:[^ ,=]+=N\(\d+\),?)*+(?=\S))")


class RulesNow(NamedTuple):
    """Limits of a job in view of the usage that Slurm told.

    Attributes
    ----------
    rules
        All limits but those over time, and what these leave to a single job.
    limits
        Those of its groups.
    spent
        Limits of what has been used up, by the resource that a job must ask for to be concerned;
        `minutes` for any job.
    timed
        Resources that are limited over time: `usage` needs their minutes.
    counted_from
        Start in seconds since 1970 from which on a running job is not part of the usage that
        Slurm told.
    """

    rules: JobRules
    limits: tuple[ClusterLimit, ...]
    spent: tuple[JobBound, ...]
    timed: frozenset[str]
    counted_from: int

    def minutes(self, usage: Amounts, minutes: int, *, started: int | None) -> dict[str, int]:
        """Return the minutes by which a job counts.

        Parameters
        ----------
        started
            Start of a running job, in seconds since 1970; None for a waiting one.
        """
        if not self.timed or (started is not None and started < self.counted_from):
            return {}
        factor = self.rules.asked_factor if started is None else self.rules.used_factor
        time = int(minutes * factor)
        found = {minutes_of(name): time * usage.get(name, 0) for name in sorted(self.timed)}
        return {**found, MINUTES: time}

    def refusal(self, usage: Amounts, units: int, time_limit: int) -> str:
        """Return the limit that a job breaks by itself, in words; see `JobRules.refusal`."""
        for one in self.spent:
            if one.counted == MINUTES or usage.get(one.counted, 0) > 0:
                return one.name
        return self.rules.refusal(usage, units, time_limit)


def rules_now(rules: JobRules, policies: Policies) -> RulesNow:
    """Return the limits of a job in view of the usage that the policies know."""
    limits, most, spent = list(rules.limits), list(rules.most), []
    timed = {
        one.counted.removesuffix(f" {MINUTES}") for one in rules.most if MINUTES in one.counted
    }
    for kind, group, counted, (bound, metered), running, name in rules.over_time:
        timed.add(counted)
        least, told = bound or 0, name
        if kind != "running":
            # Slurm counts no former usage against jobs that use nothing themselves.
            counts = rules.used_factor or kind == "wall"
            used = metered if counts else 0
            least, told = least - used, f"{name}, of which {used} are used"
            if least <= 0:
                spent.append(JobBound(counted, bound or 0, told))
            if least <= 0 or not policies.safe:
                continue
        if kind == "wall":  # what it counts with is the time limit alone
            most.append(JobBound(MINUTES, least, told))
        elif rules.used_factor:
            limits.append(ClusterLimit(group, minutes_of(counted), least, told, running))
        else:
            most.append(JobBound(minutes_of(counted), least, told))
    rules = rules._replace(most=tuple(most))
    timed -= {MINUTES}
    found = tuple(limits), tuple(spent), frozenset(timed)
    return RulesNow(rules, *found, int(policies.usage.at))


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
