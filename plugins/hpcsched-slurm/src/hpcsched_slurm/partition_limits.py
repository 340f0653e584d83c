"""Limits of partitions on single jobs, and of the CPUs that their jobs use on a node."""

import grp
import os
import pwd
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hpcsched_slurm.syntax.values import parse_size, parse_time_limit

_NONE = frozenset({"", "unlimited", "infinite", "all", "n/a", "none", "(null)", "no", "0"})
_CLOSED = frozenset({"down", "inactive"})
_EXCLUSIVE = frozenset({"exclusive", "node", "yes"})
"""Values of `OverSubscribe`, or of `Exclusive` in later versions, for whole nodes."""
_MEBIBYTE = 2**20
_LEFT = {
    "maxmempercpu": "MaxMemPerCPU",
    "maxcpuspersocket": "MaxCPUsPerSocket",
    "exclusiveuser": "ExclusiveUser",
    "exclusivetopo": "ExclusiveTopo",
}
"""Limits that only Slurm applies, with their spelling."""


class Asker(NamedTuple):
    """Properties of a job that a partition limits; memory per node in MiB, time limit in seconds.

    Attributes
    ----------
    accounts
        The job's account, and those above it if lists of accounts include the ones below them.
    user
        Name of the user; empty for root, whom Slurm lets into every group.
    """

    accounts: frozenset[str]
    qos: str
    nodes: int
    cpus_per_node: int
    memory_per_node: int
    time_limit: int | None
    user: str = ""
    all_accounts: bool = True


class PartitionLimits(NamedTuple):
    """Limits of a partition; None stands for no limit.

    Attributes
    ----------
    qos
        Name of its QOS; empty if it has none.
    exclusive
        Whether its jobs get whole nodes.
    groups
        Names of the groups of its users; None for any user.
    state
        Its state if no job may start, else empty.
    """

    name: str
    max_time: int | None = None
    max_nodes: int | None = None
    min_nodes: int = 0
    cpus_per_node: int | None = None
    memory_per_node: int | None = None
    accounts: frozenset[str] | None = None
    accounts_denied: frozenset[str] = frozenset()
    allowed_qos: frozenset[str] | None = None
    qos_denied: frozenset[str] = frozenset()
    qos: str = ""
    exclusive: bool = False
    state: str = ""
    groups: frozenset[str] | None = None

    def refusal(self, job: Asker) -> str:
        """Return the limit that a job breaks, in words; empty if it breaks none."""
        limits = (
            (bool(self.state), f"its state is {self.state}"),
            (_over(job.time_limit, self.max_time), f"MaxTime={(self.max_time or 0) // 60} minutes"),
            (_over(job.nodes, self.max_nodes), f"MaxNodes={self.max_nodes}"),
            (_over(job.cpus_per_node, self.cpus_per_node), f"MaxCPUsPerNode={self.cpus_per_node}"),
            (
                _over(job.memory_per_node, self.memory_per_node),
                f"MaxMemPerNode={self.memory_per_node}M",
            ),
            (self._has_account(job) is False, "AllowAccounts"),
            (self._denies_account(job), "DenyAccounts"),
            (self.allowed_qos is not None and job.qos not in self.allowed_qos, "AllowQos"),
            # As of accounts, the second list counts only without the first.
            (self.allowed_qos is None and job.qos in self.qos_denied, "DenyQos"),
            (self._has_user(job) is False, f"AllowGroups={','.join(sorted(self.groups or ()))}"),
        )
        return next((f"partition {self.name}: {limit}" for broken, limit in limits if broken), "")

    def unclear(self, job: Asker) -> str:
        """Return a limit that only Slurm can check for a job, in words; empty without one."""
        if self._has_account(job) is None:
            return f"partition {self.name}, whose AllowAccounts may name an account above the job's"
        if self._has_user(job) is None:
            return f"partition {self.name}, whose AllowGroups is not known to include {job.user}"
        return ""

    def _has_account(self, job: Asker) -> bool | None:
        if self.accounts is None or not self.accounts.isdisjoint(job.accounts):
            return True
        return False if job.all_accounts else None

    def _denies_account(self, job: Asker) -> bool:
        return self.accounts is None and not self.accounts_denied.isdisjoint(job.accounts)

    def _has_user(self, job: Asker) -> bool | None:
        return self.groups is None or not job.user or is_member(job.user, self.groups)


def _over(asked: int | None, most: int | None) -> bool:
    return most is not None and asked is not None and asked > most


class Partitions(NamedTuple):
    """Limits of all partitions by name, and sentences about those that are left to Slurm."""

    limits: Mapping[str, PartitionLimits]
    warnings: tuple[str, ...] = ()


NO_PARTITIONS = Partitions({})


def read_partitions(partitions: Iterable[Mapping[str, str]]) -> Partitions:
    """Return the limits of partitions."""
    found: dict[str, PartitionLimits] = {}
    told: list[str] = []
    for pairs in partitions:
        name = pairs["partitionname"]
        try:
            found[name] = _limits(name, pairs)
        except ValueError as error:
            told.append(f"the limits of partition {name} are left to Slurm: {error}")
        left = [written for key, written in _LEFT.items() if _given(pairs.get(key, ""))]
        way = pairs.get("exclusive", "")
        left += [f"Exclusive={way}"] if _given(way) and way.lower() not in _EXCLUSIVE else []
        told += [f"the limit {limit} of partition {name} is left to Slurm" for limit in left]
    return Partitions(found, tuple(told))


def _limits(name: str, pairs: Mapping[str, str]) -> PartitionLimits:
    def number(key: str) -> int | None:
        return int(pairs[key]) if _given(pairs.get(key, "")) else None

    def names(key: str) -> frozenset[str] | None:
        text = pairs.get(key, "")
        return frozenset(text.split(",")) if _given(text) else None

    state = pairs.get("state", "")
    ways = {pairs.get(key, "").lower() for key in ("oversubscribe", "exclusive")}
    memory = pairs.get("maxmempernode", "")
    return PartitionLimits(
        name,
        parse_time_limit(pairs.get("maxtime", "")),
        number("maxnodes"),
        number("minnodes") or 0,
        number("maxcpuspernode"),
        parse_size(memory) // _MEBIBYTE if _given(memory) else None,
        names("allowaccounts"),
        names("denyaccounts") or frozenset(),
        names("allowqos"),
        names("denyqos") or frozenset(),
        pairs["qos"] if _given(pairs.get("qos", "")) else "",
        not _EXCLUSIVE.isdisjoint(ways),
        state if state.lower() in _CLOSED else "",
        names("allowgroups"),
    )


def _given(text: str) -> bool:
    return text.lower() not in _NONE


KEPT_FOR = 60
"""Seconds for which an answer of the machine counts."""


def is_member(user: str, groups: Iterable[str]) -> bool | None:
    """Return whether a user is in one of some groups; None if this machine does not know."""
    now = int(time.monotonic()) // KEPT_FOR
    own = _groups_of(user, now)
    if own is None:
        return None
    numbers = [_number_of(group, now) for group in groups]
    if not own.isdisjoint(numbers):
        return True
    return None if None in numbers else False


@lru_cache(maxsize=4096)
def _groups_of(user: str, _now: int) -> frozenset[int | None] | None:
    try:
        return frozenset(os.getgrouplist(user, pwd.getpwnam(user).pw_gid))
    except (KeyError, OSError):
        return None


@lru_cache(maxsize=4096)
def _number_of(group: str, _now: int) -> int | None:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None
