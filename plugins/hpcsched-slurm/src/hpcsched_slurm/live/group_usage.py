"""Usage of groups of jobs on a cluster, and the waiting jobs that are beyond their limits.

As in a simulation with limits of partitions, jobs that would break one are hidden from the
dispatcher, so that no decision can break it.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

from hpcsched.system.cluster import ClusterJob, ClusterLimit

NODE = "node"
"""Key of the number of nodes: a node counts once for all running jobs of a group."""

_Counted = tuple[str, str]
"""Name of a group, and a key of `usage`."""


class GroupUsage:
    """Usage of groups of jobs that run or are about to run."""

    def __init__(self, running: Iterable[tuple[ClusterJob, Collection[Hashable]]]) -> None:
        self._used: Counter[_Counted] = Counter()
        nodes: dict[str, set[Hashable]] = {}
        for job, names in running:
            for group in job.groups:
                nodes.setdefault(group, set()).update(names)
                for counted, amount in job.usage.items():
                    self._used[group, counted] += amount
        for group, names in nodes.items():
            self._used[group, NODE] = len(names)

    def held_back(self, waiting: Sequence[ClusterJob]) -> dict[str, str]:
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
        limit: ClusterLimit, job: ClusterJob, used: Counter[_Counted], full: set[_Counted]
    ) -> bool:
        amount, place = job.usage.get(limit.counted, 0), (limit.group, limit.counted)
        # A job that needs nothing of an amount is not held back by it, however much is used.
        return amount > 0 and (place in full or used[place] + limit.used + amount > limit.most)
