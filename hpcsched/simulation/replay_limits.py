"""Limits of the jobs of a replay: refusals at submission, and those that the core keeps to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched._core import Counted, State
from hpcsched.arrow_arrays import numpy_array
from hpcsched.simulation.records import RejectedBy
from hpcsched.system.limits import NODES
from hpcsched.system.policies import Counter, JobRules
from hpcsched.system.space import idle_room
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import Job
from hpcsched.workload.job_batches import JobColumns, records_of
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.site_policies import NO_POLICIES, LimitsOfJobs, SitePolicies

_NONE = -1

_WHO = (
    "partition", "queue", "group", "application", "partition_name", "queue_name", "user",
)  # fmt: skip
"""Columns by which jobs have their partition, QOS, account and user."""

_OVER_TIME = {
    "total": Counted.COMMITTED,
    "running": Counted.REMAINING,
    "wall": Counted.COMMITTED,
}


class Admission(NamedTuple):
    """A job as its partition lets it run.

    Attributes
    ----------
    refused_by
        Rule that refuses it; None if none does.
    """

    job: Job
    refused_by: RejectedBy | None


class ReplayLimits:
    """Limits of all jobs of a replay.

    Attributes
    ----------
    any
        False if there are none; those of single jobs are applied at submission alone.
    columns
        Names of the columns on which the partition and the limits of a job depend.
    words
        Limits of groups in words, by their numbers in the core.
    """

    def __init__(
        self, system: System, partitions: Partitions, policies: SitePolicies = NO_POLICIES
    ) -> None:
        self._partitions, self._system = partitions, system
        self._limits = LimitsOfJobs(policies, partitions)
        self._all_groups = frozenset(group.name for group in system.groups)
        self._counters: dict[tuple[str, str, str], int] = {}
        self._sets: dict[JobRules, int] = {}
        self.any = self._limits.any
        self.columns = _WHO if self.any else _WHO[:-1]
        self.words: list[str] = []

    @property
    def counts_nodes(self) -> bool:
        """True if there are limits of nodes."""
        return self._limits.counts_nodes

    def admit(self, job: Job) -> Admission:
        """Return the job as its partition lets it run, or the rule that refuses it."""
        partition = self._partitions.of(job) if len(self._partitions) else None
        if partition is None and len(self._partitions):
            return Admission(job, "no_partition")
        if partition is not None:
            if partition.max_time is not None and job.requested_time > partition.max_time:
                return Admission(job, "over_partition_time")
            groups = partition.groups
            # A job that may use all groups stays as it is: equal requests share one fit count.
            if groups is not None and groups != self._all_groups:
                if job.node_groups is not None:
                    groups &= job.node_groups
                job = job._replace(request=job.request._replace(node_groups=groups))
            if job.units > idle_room(self._system, job.request).units:
                return Admission(job, "larger_than_partition")
        if self.any and self._refuses(job):
            return Admission(job, "over_limit")
        return Admission(job, None)

    def _refuses(self, job: Job) -> bool:
        """Return whether a job could never start, whatever runs."""
        types = zip(self._system.resource_types, job.unit_request, strict=True)
        asked = {name: job.units * amount for name, amount in types}
        nodes = min(job.units, idle_room(self._system, job.request).nodes)
        return self._limits.of(job).never_starts(asked, nodes, job.requested_time)

    def sets_of(self, columns: JobColumns, state: State) -> IntArray:
        """Return the number of each job's set of limits, `[B]`, -1 without; new ones are added."""
        if not self.any:
            return np.empty(0, dtype=np.int64)
        told = [as_numbers(columns.details.column(name)) for name in self.columns]
        _, first, place = np.unique(np.stack(told), axis=1, return_index=True, return_inverse=True)
        jobs = records_of([columns.take(first)])
        numbers = [self._set(self._limits.of(job), state) for job, _ in jobs]
        return np.array(numbers, dtype=np.int64)[place.reshape(-1)]

    def _set(self, rules: JobRules, state: State) -> int:
        if not rules.counters:
            return _NONE
        if rules in self._sets:
            return self._sets[rules]
        counters = [self._counter(one, state) for one in rules.counters]
        bounds = [
            (self._counters[one.group, "amount", one.counted], float(one.most))
            for one in rules.limits
        ]
        bounds += [
            (self._counters[one.group, one.kind, one.counted], 60.0 * (one.limit.most or 0))
            for one in rules.over_time
        ]
        self.words += [one.name for one in rules.limits]
        self.words += [one.name for one in rules.over_time]
        state.add_limits(counters, bounds)
        return self._sets.setdefault(rules, len(self._sets))

    def _counter(self, one: Counter, state: State) -> int:
        key = one.group, one.kind, one.name
        if key not in self._counters:
            counted = _OVER_TIME.get(one.kind, Counted.AMOUNT)
            if one.kind == "amount" and one.name == NODES:
                counted = Counted.NODES
            types: Sequence[str] = self._system.resource_types
            resource = types.index(one.name) if one.name in types else _NONE
            state.add_counters([(counted, resource, 60.0 * one.used)])
            self._counters[key] = len(self._counters)
        return self._counters[key]


def as_numbers(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return one number for each distinct value of a column."""
    found = column.dictionary_encode().indices.fill_null(-1)
    return numpy_array(found).astype(np.int64)
