"""Checks of partitions and of the descriptions of jobs: refusals, nodes, limits of users, names."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from hpcsched.audit.columns import (
    LostColumns,
    RunColumns,
    TraceColumns,
    group_names,
    levels_over_time,
)
from hpcsched.audit.job_checks import Match
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import NUMBERED
from hpcsched.workload.site_partitions import Partition, Partitions

Room = tuple[int, int]
"""Units that fit on the idle eligible nodes, and number of these nodes with room for one."""


def check_partitions(
    trace: TraceColumns, run: RunColumns, match: Match, system: System, partitions: Partitions
) -> Iterator[Check]:
    """Yield the checks of partitions, if there are any."""
    if not partitions:
        return
    declared = tuple(partitions)
    belongs_to = partition_of(trace, declared)
    yield _check_refusals(trace, run, match, system, (declared, belongs_to))
    run_partition = _by_row(run, match, belongs_to)
    yield _check_nodes(run, run_partition, system, declared)
    yield _check_users(run, run_partition, _by_row(run, match, trace.numbers["user"]), declared)


def _by_row(run: RunColumns, match: Match, of_trace: IntArray) -> IntArray:
    """Return numbers of the trace's jobs by row of the run, `[J]`; -1: the trace lacks the job."""
    rows, of = match
    found = np.full(len(run.job_id), -1)
    found[rows] = of_trace[of]
    return found


def partition_of(trace: TraceColumns, declared: tuple[Partition, ...]) -> IntArray:
    """Return the place of each job's partition in `declared`, `[T]`; -1: it has none."""
    place = np.full(len(trace.job_id), -1)
    for n, partition in enumerate(declared):
        for what, claimed in partition.jobs.items():
            numbers = [number for number in claimed if isinstance(number, int)]
            # A scenario names queues and partitions by number or by name.
            named = np.isin(trace.numbers[what], numbers)
            if what in trace.names:
                names = [name for name in claimed if isinstance(name, str)]
                named |= np.isin(trace.names[what], names)
            place[(place == -1) & named] = n
    for n, partition in enumerate(declared):
        # A partition without a filter takes the jobs that no other partition has claimed.
        if not partition.jobs:
            place[place == -1] = n
    return place


def _check_refusals(
    trace: TraceColumns,
    run: RunColumns,
    match: Match,
    system: System,
    belonging: tuple[tuple[Partition, ...], IntArray],
) -> Check:
    """Check that partitions refused the jobs that they have to refuse, and no other."""
    declared, partition_of = belonging
    rows, of = match
    check = Check("partitions refused what they must refuse, and nothing else", len(rows))
    room = _room_finder(trace, system, declared)
    for row, k in zip(rows.tolist(), of.tolist(), strict=True):
        n = int(partition_of[k])
        expected = "no_partition" if n < 0 else _refusal(trace, k, declared[n], room(k, n))
        found = str(run.rejected_by[row])
        # Beyond its partition, a job may have been refused by the dispatcher, or for the shared
        # resources.
        if found != expected and (expected or found not in ("dispatcher", "over_shared_resource")):
            job_id = run.job_id[row]
            check.found(
                f"job {job_id}: rejected_by: expected {expected or 'nothing'},"
                f" found {found or 'nothing'}"
            )
    return check


def _refusal(trace: TraceColumns, k: int, partition: Partition, room: Room) -> str:
    """Return the rule by which a partition has to refuse job `k`; empty if there is none."""
    fits, nodes = room
    units = int(trace.units[k])
    if partition.max_time is not None and trace.requested_time[k] > partition.max_time:
        return "over_partition_time"
    if units > fits:
        return "larger_than_partition"
    if partition.nodes_per_user is not None and min(units, nodes) > partition.nodes_per_user:
        return "over_nodes_per_user"
    return ""


def _room_finder(
    trace: TraceColumns, system: System, declared: tuple[Partition, ...]
) -> Callable[[int, int], Room]:
    """Return a function from job `k` and partition `n` to the room for the job's units there."""
    names = group_names(system)

    # Few requests are distinct, and a log has a hundred thousand jobs.
    @cache
    def find(
        request: tuple[int, ...],
        groups: frozenset[str] | None,
        nodes: frozenset[int] | None,
        one_unit_per_node: bool,
        n: int,
    ) -> Room:
        per_type = [
            system.capacity[:, r] // amount for r, amount in enumerate(request) if amount > 0
        ]
        fits = np.min(per_type, axis=0)
        if one_unit_per_node:
            fits = np.minimum(fits, 1)
        for wanted in (groups, declared[n].groups):
            if wanted is not None:
                fits[~np.isin(names, list(wanted))] = 0
        if nodes is not None:
            fits[~np.isin(np.arange(len(names)), list(nodes))] = 0
        return int(fits.sum()), int(np.count_nonzero(fits))

    def room(k: int, n: int) -> Room:
        request = tuple(trace.unit_request[k].tolist())
        groups, nodes = trace.node_groups[k], trace.allowed_nodes[k]
        return find(request, groups, nodes, bool(trace.flags["one_unit_per_node"][k]), n)

    return room


def _check_nodes(
    run: RunColumns, run_partition: IntArray, system: System, declared: tuple[Partition, ...]
) -> Check:
    """Check that jobs run on the node groups of their partition."""
    check = Check("jobs run on the node groups of their partition", len(run.node))
    names = group_names(system)
    row = run.place_row
    exists = run.on_known_nodes(system)
    for n, partition in enumerate(declared):
        if partition.groups is None:
            continue
        mine = np.flatnonzero((run_partition[row] == n) & exists)
        outside = mine[~np.isin(names[run.node[mine]], list(partition.groups))]
        groups = ", ".join(sorted(partition.groups))
        for p in outside.tolist():
            where = system.node_name(int(run.node[p]))
            claim = f"job {run.job_id[row[p]]}: partition {partition.name}"
            check.found(f"{claim}: expected a node of {groups}, found {where}")
    return check


def _check_users(
    run: RunColumns, run_partition: IntArray, users: IntArray, declared: tuple[Partition, ...]
) -> Check:
    """Check the limits of users in each partition, at every instant.

    Ends and starts of the same instant count together, so that a zero-length job holds nothing. A
    job of an unknown user is looked at by itself.
    """
    check = Check("no user runs more in a partition than it allows, at any instant")
    accounts = np.where(users >= 0, users, ~np.arange(len(users)))
    for n, partition in enumerate(declared):
        rows = np.flatnonzero(run.ran & (run_partition == n))
        times = run.start_time[rows], run.end_time[rows]
        for what, most, amounts in (
            ("running_jobs_per_user", partition.running_jobs_per_user, np.ones_like(rows)),
            ("nodes_per_user", partition.nodes_per_user, run.places[rows]),
        ):
            if most is not None and len(rows):
                found = levels_over_time(accounts[rows], *times, amounts)
                _check_level(check, found, most, f"partition {partition.name}: {what}")
    return check


def _check_level(
    check: Check, found: tuple[IntArray, IntArray, IntArray], most: int, claim: str
) -> None:
    """Check that the jobs of no account hold more than `most` together, at any instant."""
    account, time, level = found
    check.looked_at += len(level)
    check.found_at(
        np.flatnonzero(level > most),
        lambda k: (
            f"{claim}: second {time[k]}, {_whose(int(account[k]))}: expected at most {most}, found"
            f" {level[k]}"
        ),
    )


def _whose(account: int) -> str:
    """Name an account in a message."""
    return f"user {account}" if account >= 0 else "a job of an unknown user"


_UNPLACED = ("no_partition", "over_partition_time")
"""Rules that refuse a job before its partition restricts its nodes."""


def check_descriptions(
    run: RunDirectory, trace: TraceColumns, match: Match, system: System, partitions: Partitions
) -> Check:
    """Check that jobs are described as in the trace, with the node groups of their partition."""
    rows, of = match
    check = Check("users, names and eligible nodes of jobs are those of the trace", len(rows))
    expected: dict[str, list[Any]] = {
        name: [None if number < 0 else number for number in trace.numbers[name].tolist()]
        for name in NUMBERED
    }
    expected["name"] = trace.name
    expected["allowed_nodes"] = [
        None if nodes is None else sorted(nodes) for nodes in trace.allowed_nodes
    ]
    names = (*expected, "node_groups", "rejected_by", "job_id")
    table = run.all_jobs.read(*names)
    found = {name: table[name].to_pylist() for name in names}
    allowed = _groups_in_partitions(trace, system, partitions)
    for row, k in zip(rows.tolist(), of.tolist(), strict=True):
        # A refused job never reached the rule that restricts its nodes.
        own = trace.node_groups[k] if found["rejected_by"][row] in _UNPLACED else allowed[k]
        wanted = {name: values[k] for name, values in expected.items()}
        wanted["node_groups"] = None if own is None else sorted(own)
        for name, value in wanted.items():
            if value != found[name][row]:
                check.found(
                    f"job {found['job_id'][row]}: {name}: expected {value}, found"
                    f" {found[name][row]}"
                )
    return check


def _groups_in_partitions(
    trace: TraceColumns, system: System, partitions: Partitions
) -> list[frozenset[str] | None]:
    """Return the node groups that each job may use in its partition, `[T]`; None: any."""
    declared = tuple(partitions)
    every = {group.name for group in system.groups}
    found = []
    for own, n in zip(trace.node_groups, partition_of(trace, declared).tolist(), strict=True):
        groups = declared[n].groups if n >= 0 else None
        # A partition of all groups restricts nothing, and the column stays as submitted.
        if groups is None or groups == every:
            found.append(own)
        else:
            found.append(groups if own is None else groups & own)
    return found


def check_lost_requests(
    run: RunDirectory, trace: TraceColumns, columns: RunColumns, lost: LostColumns
) -> Check:
    """Check that lost attempts have the requests of their jobs, and failed ones their places."""
    check = Check("attempts that were lost are those of their jobs", len(lost.job_id))
    table = ParquetTable(run.path / INTERRUPTIONS).read("units", "unit_request")
    units, requests = table["units"].to_pylist(), table["unit_request"].to_pylist()
    place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
    places = _places(lost)
    failed = {
        int(columns.job_id[row]): at
        for row, at in enumerate(_places(columns))
        if columns.state[row] == "failed"
    }
    for n, job_id in enumerate(lost.job_id.tolist()):
        k = place.get(job_id)
        if k is None:
            check.found(f"job {job_id}: expected to be in the trace, found only as lost")
            continue
        expected = (int(trace.units[k]), trace.unit_request[k].tolist())
        if expected != (units[n], requests[n]):
            found = (units[n], requests[n])
            check.found(f"job {job_id}: units and request: expected {expected}, found {found}")
        if not lost.requeued[n] and failed.get(job_id) != places[n]:
            at = failed.get(job_id)
            check.found(f"job {job_id}: nodes and units: expected {at}, found {places[n]}")
    return check


def _places(columns: LostColumns | RunColumns) -> list[list[tuple[int, int]]]:
    """Return the nodes of each row, with the units on each."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(columns.places))]
    for row, node, units in zip(
        columns.place_row.tolist(), columns.node.tolist(), columns.node_units.tolist(), strict=True
    ):
        found[row].append((node, units))
    return found
