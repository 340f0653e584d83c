"""Checks of partitions and of the descriptions of jobs: refusals, nodes, names."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import AuditedRun, Replayed, TraceColumns, objects
from hpcsched.audit.violations import Check, rule
from hpcsched.system.policies import JobRules
from hpcsched.system.system import IntArray, Request
from hpcsched.workload.job import NUMBERED, Job
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.site_policies import LimitsOfJobs


def partition_of(trace: TraceColumns, partitions: Partitions) -> IntArray:
    """Return the place of each job's partition in `partitions`, `[T]`; -1: it has none."""
    place = np.full(len(trace.job_id), -1)
    for n, partition in enumerate(partitions):
        for what, claimed in partition.jobs.items():
            # A scenario names queues and partitions by number or by name.
            named = np.isin(trace.numbers[what], [one for one in claimed if isinstance(one, int)])
            if what in trace.names:
                named |= np.isin(trace.names[what], [o for o in claimed if isinstance(o, str)])
            place[(place == -1) & named] = n
    for n, partition in enumerate(partitions):
        # A partition without a filter takes the jobs that no other partition has claimed.
        if not partition.jobs:
            place[place == -1] = n
    return place


_NUMBERS = ("partition", "queue", "group", "application", "user")
_NAMES = ("partition", "queue")


class Rules(NamedTuple):
    """Limits of jobs: distinct ones, and which of them each job of the trace has, `[T]`."""

    distinct: list[JobRules]
    of_job: IntArray


def rules_of(trace: TraceColumns, limits: LimitsOfJobs) -> Rules:
    """Return the limits of the jobs of a trace."""
    columns = [trace.numbers[name] for name in _NUMBERS]
    names = {f"{name}_name": trace.names[name] for name in _NAMES if name in trace.names}
    columns += [np.unique(of, return_inverse=True)[1] for of in names.values()]
    _, first, place = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    found = []
    for k in first.tolist():
        known = {name: int(trace.numbers[name][k]) for name in _NUMBERS}
        told: dict[str, Any] = {name: number for name, number in known.items() if number >= 0}
        told |= {name: str(of[k]) for name, of in names.items() if of[k]}
        found.append(limits.of(Job(0, 0, Request(1, ()), 0, **told)))
    return Rules(found, place.reshape(-1))


@rule(lambda at: len(at.partitions) or at.limits.any)
def refusals(check: Check, at: Replayed) -> None:
    """Check that partitions and limits refused what they must refuse, and nothing else."""
    (rows, of), trace, declared = at.matched, at.trace, tuple(at.partitions)
    check.looked_at = len(rows)
    belongs_to = partition_of(trace, at.partitions)

    # Few requests are distinct, and a log has a hundred thousand jobs.
    @cache
    def room(
        request: tuple[int, ...],
        groups: frozenset[str] | None,
        nodes: frozenset[int] | None,
        one_unit_per_node: bool,
        n: int,
    ) -> tuple[int, int]:
        """Return how many units fit on the idle eligible nodes, and how many nodes have room."""
        asked = [(r, amount) for r, amount in enumerate(request) if amount > 0]
        fits = np.min([at.system.capacity[:, r] // amount for r, amount in asked], axis=0)
        if one_unit_per_node:
            fits = np.minimum(fits, 1)
        for wanted in (groups, declared[n].groups if n >= 0 else None):
            if wanted is not None:
                fits[~np.isin(at.group_names, list(wanted))] = 0
        if nodes is not None:
            fits[~np.isin(np.arange(len(fits)), list(nodes))] = 0
        return int(fits.sum()), int(np.count_nonzero(fits))

    rules = rules_of(trace, at.limits) if at.limits.any else None

    def over_limit(k: int, nodes: int) -> bool:
        """Return whether job `k`, on so many nodes at most, breaks a limit whatever runs."""
        if rules is None:
            return False
        asked = (trace.units[k] * trace.unit_request[k]).tolist()
        usage = dict(zip(at.system.resource_types, asked, strict=True))
        most = min(int(trace.units[k]), nodes)
        own: JobRules = rules.distinct[rules.of_job[k]]
        return own.never_starts(usage, most, int(trace.requested_time[k]))

    def refusal(k: int) -> str:
        """Return the rule by which job `k` has to be refused; empty if there is none."""
        n, units = int(belongs_to[k]), int(trace.units[k])
        if n < 0 and declared:
            return "no_partition"
        most = declared[n].max_time if n >= 0 else None
        if most is not None and trace.requested_time[k] > most:
            return "over_partition_time"
        bounds = trace.node_groups[k], trace.allowed_nodes[k], bool(trace.one_unit_per_node[k])
        fits, nodes = room(tuple(trace.unit_request[k].tolist()), *bounds, n)
        if units > fits:
            return "larger_than_partition"
        return "over_limit" if over_limit(k, nodes) else ""

    expected = np.array([refusal(k) for k in of.tolist()], dtype=np.str_)
    found = at.jobs.rejected_by[rows]
    # Later, the dispatcher may refuse a job, the check of shared resources, or a used-up limit.
    others = np.isin(found, ("dispatcher", "over_shared_resource", "used_up_limit"))
    others &= expected == ""
    message = "job {}: rejected_by: expected {}, found {}"
    told = (np.where(names == "", "nothing", names) for names in (expected, found))
    check.found_at((expected != found) & ~others, message, at.jobs.job_id[rows], *told)


def by_attempt(at: Replayed, of_trace: IntArray) -> IntArray:
    """Return numbers of the trace's jobs by attempt, `[J]`; -1: the trace lacks the job."""
    rows, of = at.attempts_matched
    found = np.full(len(at.attempts.job_id), -1)
    found[rows] = of_trace[of]
    return found


@rule(lambda at: at.partitions)
def partition_nodes(check: Check, at: Replayed) -> None:
    """Check that jobs run on the node groups of their partition."""
    run = at.attempts
    check.looked_at = len(run.node)
    exists = at.exists(run.node)
    row, node = run.place_row[exists], run.node[exists]
    mine = by_attempt(at, partition_of(at.trace, at.partitions))[row]
    for n, partition in enumerate(at.partitions):
        if partition.groups is not None:
            outside = (mine == n) & ~np.isin(at.group_names[node], list(partition.groups))
            message = "job {}: partition {}: expected a node of {}, found {}"
            told = partition.name, ", ".join(sorted(partition.groups)), at.node_names[node]
            check.found_at(outside, message, run.job_id[row], *told)


_UNPLACED = ("no_partition", "over_partition_time")
"""Rules that refuse a job before its partition restricts its nodes."""


@rule()
def descriptions(check: Check, at: AuditedRun) -> None:
    """Check that users, names and eligible nodes of jobs are those of the trace."""
    (rows, of), trace, run = at.matched, at.trace, at.jobs
    check.looked_at = len(rows)
    declared = tuple(at.partitions)
    every = frozenset(group.name for group in at.system.groups)

    def groups(own: frozenset[str] | None, n: int, refused: str) -> frozenset[str] | None:
        """Return the node groups that a job may use in partition `n`; None: any."""
        allowed = declared[n].groups if n >= 0 else None
        # A refused job never reached the rule that restricts its nodes. A partition of all groups
        # restricts nothing, and the column stays as submitted.
        if allowed is None or allowed == every or refused in _UNPLACED:
            return own
        return allowed if own is None else allowed & own

    of_jobs = of.tolist()
    belongs_to = partition_of(trace, at.partitions)[of].tolist()
    bounds = zip(
        (trace.node_groups[k] for k in of_jobs), belongs_to, run.rejected_by[rows], strict=True
    )
    expected = {
        **{name: objects(trace.numbers[name][of].tolist()) for name in NUMBERED},
        "name": objects([trace.name[k] for k in of_jobs]),
        "allowed_nodes": objects([_listed(trace.allowed_nodes[k]) for k in of_jobs]),
        "node_groups": objects([_listed(groups(*one)) for one in bounds]),
    }
    for name in NUMBERED:
        expected[name][expected[name] == -1] = None
    table = at.run.all_jobs.read(*expected)
    for name, values in expected.items():
        found = objects(table[name].to_pylist())[rows]
        check.differ("job {}: {}", values, found, run.job_id[rows], name)


def _listed(values: frozenset[Any] | None) -> list[Any] | None:
    return None if values is None else sorted(values)
