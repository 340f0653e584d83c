"""Checks that each job is placed as it asked, regardless of other jobs."""

import numpy as np

from hpcsched.audit.columns import BoolArray, RunColumns, TraceColumns
from hpcsched.audit.jobs import Match
from hpcsched.audit.violations import Check
from hpcsched.system.system import IntArray, System


def check_places(trace: TraceColumns, run: RunColumns, match: Match, system: System) -> Check:
    """Check that each job that ran has all units on eligible nodes with enough capacity."""
    check = Check("each job's units are all placed, on nodes that it may use and fits on")
    rows, of = match
    # Rows without a job of the trace are reported by the check of presence; 0 is not used for
    # them.
    trace_of = np.zeros_like(run.job_id)
    trace_of[rows] = of
    ran = np.isin(np.arange(len(run.job_id)), rows) & run.ran
    check.looked_at = int(run.places[ran].sum())

    for row in np.flatnonzero(ran & run.unpaired).tolist():
        check.found(f"job {run.job_id[row]}: expected units for each node, found other numbers")
    place_row = run.place_row
    placed = np.zeros(len(run.job_id), dtype=np.int64)
    np.add.at(placed, place_row, run.node_units)
    paired = np.flatnonzero(ran & ~run.unpaired)
    wanted = trace.units[trace_of[paired]]
    for p in np.flatnonzero(placed[paired] != wanted).tolist():
        job_id, found = run.job_id[paired[p]], placed[paired[p]]
        check.found(f"job {job_id}: units placed: expected {wanted[p]}, found {found}")

    counted = ran[place_row]
    place_row, node, units = place_row[counted], run.node[counted], run.node_units[counted]
    # Later checks index capacity by node, so nodes that do not exist are dropped here.
    exists = (node >= 0) & (node < system.node_count)
    for p in np.flatnonzero(~exists).tolist():
        last = system.node_count - 1
        job_id = run.job_id[place_row[p]]
        check.found(f"job {job_id}: node: expected a number from 0 to {last}, found {node[p]}")
    for p in np.flatnonzero(units < 1).tolist():
        job_id = run.job_id[place_row[p]]
        check.found(f"job {job_id}, node {node[p]}: units: expected at least 1, found {units[p]}")
    _check_distinct(check, run, place_row, node)

    place_row, node, units = place_row[exists], node[exists], units[exists]
    traced = trace_of[place_row]
    for p in np.flatnonzero(~_in_group(trace, traced, node, system)).tolist():
        names = ", ".join(sorted(trace.node_groups[traced[p]] or ()))
        where = system.node_name(int(node[p]))
        job_id = run.job_id[place_row[p]]
        check.found(f"job {job_id}: node: expected one of {names or 'no group'}, found {where}")
    named = np.array([nodes is not None for nodes in trace.allowed_nodes])
    for p in np.flatnonzero(named[traced]).tolist():
        if int(node[p]) not in (trace.allowed_nodes[traced[p]] or ()):
            where = system.node_name(int(node[p]))
            job_id = run.job_id[place_row[p]]
            check.found(f"job {job_id}: node: expected one that it may use, found {where}")
    for p in np.flatnonzero(trace.flags["one_unit_per_node"][traced] & (units > 1)).tolist():
        where = system.node_name(int(node[p]))
        job_id = run.job_id[place_row[p]]
        check.found(f"job {job_id}, node {where}: units: expected 1 on each, found {units[p]}")
    asked = units[:, np.newaxis] * trace.unit_request[traced]
    for p, r in np.argwhere(asked > system.capacity[node]).tolist():
        check.found(
            f"job {run.job_id[place_row[p]]}, node {system.node_name(int(node[p]))}:"
            f" {system.resource_types[r]}: expected at most {system.capacity[node[p], r]},"
            f" its capacity, found {asked[p, r]}"
        )
    return check


def _check_distinct(check: Check, run: RunColumns, place_row: IntArray, node: IntArray) -> None:
    """Check that no row names a node twice."""
    order = np.lexsort((node, place_row))
    rows, nodes = place_row[order], node[order]
    again = np.flatnonzero((np.diff(rows) == 0) & (np.diff(nodes) == 0))
    for p in again.tolist():
        check.found(f"job {run.job_id[rows[p]]}: node {nodes[p]}: expected once, found again")


def _in_group(trace: TraceColumns, traced: IntArray, node: IntArray, system: System) -> BoolArray:
    """Return a mask of the places on a node of a group that the job may use, `[P]`."""
    fine = np.ones(len(node), dtype=np.bool_)
    names = np.repeat([g.name for g in system.groups], [g.count for g in system.groups])
    # Few different wishes, many jobs: compare by number.
    number = {groups: k for k, groups in enumerate(dict.fromkeys(trace.node_groups))}
    wish = np.array([number[groups] for groups in trace.node_groups])[traced]
    for groups, k in number.items():
        if groups is not None:
            mine = wish == k
            fine[mine] = np.isin(names[node[mine]], list(groups))
    return fine
