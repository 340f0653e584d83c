"""Checks of users, names and eligible nodes of jobs."""

from typing import Any

from hpcsched.audit.attempts import LostColumns
from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.jobs import Match
from hpcsched.audit.partitions import partition_of
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import System
from hpcsched.workload.job_columns import NUMBERED
from hpcsched.workload.site_partitions import Partitions

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
