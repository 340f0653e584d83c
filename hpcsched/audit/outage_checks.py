"""Checks that jobs kept clear of outages, and that losses to them add up."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hpcsched.audit.columns import LostColumns, RunColumns, TraceColumns
from hpcsched.audit.job_checks import Match
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import OUTAGES
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.outages import Outages, down_time
from hpcsched.system.system import IntArray, System

Times = dict[int, IntArray]
"""Instants in seconds, ascending, by node number."""


def check_outages(
    trace: TraceColumns,
    run: tuple[RunColumns, LostColumns],
    match: Match,
    system: System,
    outages: Outages,
) -> Iterator[Check]:
    """Yield the checks of outages and of lost attempts."""
    attempts, lost = run
    if outages.all:
        down = down_time(outages.all)
        starts = _by_node(down.node, down.start)
        ends = _by_node(down.node, down.end)
        yield _check_service(attempts, system, starts, ends)
        yield _check_announced(attempts, system, outages)
        yield _check_lost(trace, attempts, match, lost, starts)
    # Without outages, no attempt of any job was lost.
    yield _check_counts(attempts, lost, requeue=outages.requeue)


def check_recorded_outages(run: RunDirectory, outages: Outages) -> Iterator[Check]:
    """Yield the check that `outages.parquet` holds the declared outages, if there are any."""
    if not outages.all and not (run.path / OUTAGES).is_file():
        return
    check = Check("the outages are those that the scenario declares, drawn again")
    names = ("start_time", "end_time", "nodes", "kind", "name")
    table = ParquetTable(run.path / OUTAGES).read(*names)
    found = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    check.expect("outages", len(outages.all), len(found))
    # Another number of rows is reported above.
    for expected, (start, end, nodes, kind, name) in zip(outages.all, found, strict=False):
        there = (start, end, tuple(nodes), kind, name)
        check.expect("an outage", tuple(expected), there)
    yield check


def check_outage_figures(
    summary: Mapping[str, Any],
    attempts: RunColumns,
    lost: LostColumns,
    system: System,
    outages: Outages,
    *,
    recorded: bool,
) -> Iterator[Check]:
    """Yield the check of the summary's figures of outages.

    Parameters
    ----------
    recorded
        True if the run has `outages.parquet`; the summary must have these figures then, and only
        then.
    """
    stated = summary.get("outages")
    if stated is None and not recorded:
        return
    check = Check("the summary's figures of outages agree with the outages")
    check.expect("outages: figures beside the file", recorded, stated is not None)
    # The check goes on without them, so that every missing figure is named.
    stated = stated or {}
    seconds = lost.end_time - lost.start_time
    rows = {job_id: row for row, job_id in enumerate(attempts.job_id.tolist())}
    amounts = Counter(dict.fromkeys(system.resource_types, 0))
    for job_id, time in zip(lost.job_id.tolist(), seconds.tolist(), strict=True):
        row = rows.get(job_id)
        if row is not None:
            for r, name in enumerate(system.resource_types):
                amounts[name] += int(attempts.units[row] * attempts.unit_request[row, r]) * time
    kinds = dict.fromkeys(outage.kind for outage in outages.all)
    down = {kind: down_time(o for o in outages.all if o.kind == kind) for kind in kinds}
    for key, expected in (
        ("interruptions", len(lost.job_id)),
        ("requeued", int(lost.requeued.sum())),
        ("lost_time", int(seconds.sum())),
        ("lost_node_seconds", int((seconds * lost.places).sum())),
        ("node_seconds_down", {kind: int((d.end - d.start).sum()) for kind, d in down.items()}),
    ):
        check.expect(f"outages.{key}", expected, stated.get(key))
    # Unknown jobs are a violation of another check; their amounts cannot be known.
    if set(lost.job_id.tolist()) <= set(rows):
        check.expect("outages.lost_amounts", dict(amounts), stated.get("lost_amounts"))
    yield check


def _by_node(nodes: IntArray, times: IntArray) -> Times:
    """Split times, ascending within each node, by node."""
    return {int(node): times[nodes == node] for node in np.unique(nodes)}


def _check_service(run: RunColumns, system: System, starts: Times, ends: Times) -> Check:
    """Check that no attempt is on a node that is out of service, at any instant."""
    check = Check("nothing runs on a node that is out of service")
    row = run.place_row
    counted = np.flatnonzero(run.ran[row])
    check.looked_at = len(counted)
    for p in counted.tolist():
        node = int(run.node[p])
        if node not in starts:
            continue
        begin, end = int(run.start_time[row[p]]), int(run.end_time[row[p]])
        # A job of no length must find its node in service all the same.
        k = int(np.searchsorted(starts[node], max(end, begin + 1))) - 1
        if k >= 0 and ends[node][k] > begin:
            check.found(
                f"job {run.job_id[row[p]]}, from {begin} to {end}: node {system.node_name(node)} is"
                f" out of service from {starts[node][k]} to {ends[node][k]}"
            )
    return check


def _check_announced(run: RunColumns, system: System, outages: Outages) -> Check:
    """Check that no job was started that was predicted to run into an announced outage."""
    check = Check("nothing starts that is predicted to run into an announced outage")
    begins: dict[int, list[int]] = {}
    for outage in sorted(o for o in outages.all if o.announced):
        for node in outage.nodes:
            begins.setdefault(node, []).append(outage.start)
    arrays = {node: np.array(times) for node, times in begins.items()}
    row = run.place_row
    counted = np.flatnonzero(run.ran[row])
    check.looked_at = len(counted)
    for p in counted.tolist():
        times = arrays.get(int(run.node[p]))
        if times is None:
            continue
        start = int(run.start_time[row[p]])
        predicted = start + int(run.predicted_run_time[row[p]])
        # The first outage of the node after the start.
        k = int(np.searchsorted(times, start, side="right"))
        if k < len(times) and times[k] < predicted:
            check.found(
                f"job {run.job_id[row[p]]}, started at {start} and predicted to end at {predicted}:"
                f" an outage of node {system.node_name(int(run.node[p]))} was announced for"
                f" {times[k]}"
            )
    return check


def _check_lost(
    trace: TraceColumns, run: RunColumns, match: Match, lost: LostColumns, starts: Times
) -> Check:
    """Check that attempts were lost as one of their nodes went out of service, before their end."""
    check = Check("attempts are lost only as a node goes out of service", len(lost.job_id))
    rows, of = match
    run_times = dict(zip(run.job_id[rows].tolist(), trace.run_time[of].tolist(), strict=True))
    first = np.concatenate(([0], np.cumsum(lost.places)))
    for k, job_id in enumerate(lost.job_id.tolist()):
        begin, end = int(lost.start_time[k]), int(lost.end_time[k])
        nodes = lost.node[first[k] : first[k + 1]].tolist()
        if not any(end in starts.get(node, ()) for node in nodes):
            check.found(f"job {job_id}: lost at {end}, when none of its nodes went out of service")
        if end < begin or end >= begin + run_times.get(job_id, math.inf):
            check.found(f"job {job_id}: lost at {end}, when it had ended, or not begun")
    return check


def _check_counts(run: RunColumns, lost: LostColumns, *, requeue: bool) -> Check:
    """Check requeues, lost times and failures of jobs against the lost attempts."""
    check = Check("requeues, lost times and failures are those of the attempts that were lost")
    again = lost.requeued
    requeues = Counter(lost.job_id[again].tolist())
    times: Counter[int] = Counter()
    for k in np.flatnonzero(again).tolist():
        times[int(lost.job_id[k])] += int(lost.end_time[k] - lost.start_time[k])
    failed = {
        (int(lost.job_id[k]), int(lost.start_time[k]), int(lost.end_time[k]))
        for k in np.flatnonzero(~again).tolist()
    }
    if requeue:
        check.expect("attempts that were not tried again", 0, len(failed))
    else:
        check.expect("attempts that were tried again", 0, int(again.sum()))
    of_jobs = set()
    for row in np.flatnonzero(run.state != "requeued").tolist():
        job_id = int(run.job_id[row])
        check.expect(f"job {job_id}: requeues", requeues[job_id], int(run.requeues[row]))
        check.expect(f"job {job_id}: lost_time", times[job_id], int(run.lost_time[row]))
        if run.state[row] == "failed":
            of_jobs.add((job_id, int(run.start_time[row]), int(run.end_time[row])))
    check.expect("failed jobs, with start and end", sorted(failed), sorted(of_jobs))
    return check
