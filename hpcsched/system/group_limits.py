"""Limits on the running jobs of a group, as clusters have them; the file of those in a live run.

As in a simulation with limits of partitions, jobs that would break one are hidden from the
dispatcher, so that no decision can break it (see `hpcsched.simulation.limits`).
"""

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import read_file
from hpcsched.system.cluster import ClusterLimit

NODE = "node"
"""Key of the number of nodes: a node counts once for all running jobs of a group."""


class Counted(Protocol):
    """Job that counts in the limits of groups; the attributes are those of `ClusterJob`."""

    @property
    def key(self) -> str:
        """Name of the job."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups with limits that count it."""

    @property
    def limits(self) -> tuple[ClusterLimit, ...]:
        """Limits that it must keep to."""

    @property
    def usage(self) -> Mapping[str, int]:
        """Amounts by which it counts."""


class LimitedJob(NamedTuple):
    """Groups, limits and usage of a job; see `Counted`.

    Attributes
    ----------
    until
        Second up to which the job may not start by itself, as with a limit of its partition; 0:
        it may at once.
    """

    key: str
    groups: tuple[str, ...]
    limits: tuple[ClusterLimit, ...]
    usage: Mapping[str, int]
    until: int = 0
    why: str = ""


_Counted = tuple[str, str]
"""Name of a group, and a key of `usage`."""


class GroupUsage:
    """Usage of groups of jobs that run or are about to run."""

    def __init__(self, running: Iterable[tuple[Counted, Collection[Hashable]]]) -> None:
        self._used: Counter[_Counted] = Counter()
        nodes: dict[str, set[Hashable]] = {}
        for job, names in running:
            for group in job.groups:
                nodes.setdefault(group, set()).update(names)
                for counted, amount in job.usage.items():
                    self._used[group, counted] += amount
        for group, names in nodes.items():
            self._used[group, NODE] = len(names)

    def held_back(self, waiting: Sequence[Counted]) -> dict[str, str]:
        """Return the waiting jobs that are beyond a limit, with the limit in words, by key.

        All others may start together. A limit is given out in the order of the jobs: the first job
        that is beyond it holds back those behind it that it limits too, so that none is overtaken
        for ever by smaller ones. A job that is beyond a limit by itself holds back no other.
        """
        held: dict[str, str] = {}
        full: set[_Counted] = set()
        used = self._used.copy()
        for job in waiting:
            beyond = [limit for limit in job.limits if self._breaks(limit, job, used, full)]
            if not beyond:
                for group in job.groups:
                    for counted, amount in job.usage.items():
                        used[group, counted] += amount
                continue
            held[job.key] = beyond[0].name
            if all(job.usage.get(limit.counted, 0) <= limit.most for limit in job.limits):
                full.update((limit.group, limit.counted) for limit in beyond)
        return held

    @staticmethod
    def _breaks(
        limit: ClusterLimit, job: Counted, used: Counter[_Counted], full: set[_Counted]
    ) -> bool:
        amount, place = job.usage.get(limit.counted, 0), (limit.group, limit.counted)
        # A job that needs nothing of an amount is not held back by it, however much is used.
        return amount > 0 and (place in full or used[place] + limit.used + amount > limit.most)


class SeenLimits(NamedTuple):
    """Limits of a job, and its draw from shared resources."""

    job: LimitedJob
    shared: Mapping[str, int]


def limits_line(job_id: int, seen: SeenLimits) -> str:
    """Return the line of a job."""
    groups, limits, usage = seen.job.groups, seen.job.limits, seen.job.usage
    told = [{"group": one.group, "counted": one.counted, "most": one.most, "name": one.name}
            for one in limits]  # fmt: skip
    content = {
        "job_id": job_id, "groups": groups, "limits": told, "usage": dict(usage),
        "shared": dict(seen.shared), "until": seen.job.until, "why": seen.job.why,
    }  # fmt: skip
    return json.dumps(content) + "\n"


def read_limits(path: Path) -> dict[int, SeenLimits]:
    """Return the limits in a file, by number of the job."""
    try:
        lines = read_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _fault(path, f"it cannot be read: {error}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            content = json.loads(line)
            found[int(content["job_id"])] = _seen(content)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            told = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise _fault(path, f"expected the limits of a job: {told}", number) from error
    return found


def _seen(content: Mapping[str, Any]) -> SeenLimits:
    limits = (
        ClusterLimit(str(one["group"]), str(one["counted"]), int(one["most"]), str(one["name"]))
        for one in content["limits"]
    )
    groups = tuple(map(str, content["groups"]))
    usage = {str(name): int(amount) for name, amount in content["usage"].items()}
    shared = {str(name): int(amount) for name, amount in content["shared"].items()}
    until, why = int(content["until"]), str(content["why"])
    key = str(content["job_id"])
    return SeenLimits(LimitedJob(key, groups, tuple(limits), usage, until, why), shared)


def _fault(path: Path, message: str, line: int | None = None) -> InputError:
    return InputError(Finding("damaged-file", message, Place(str(path), line)))
