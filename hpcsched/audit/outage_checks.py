"""Checks that jobs kept clear of outages, and that losses to them add up."""

from typing import Any

import numpy as np

from hpcsched.audit.columns import AuditedRun, LostColumns, Replayed, match
from hpcsched.audit.violations import Check, rule
from hpcsched.runs.files import OUTAGES
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.outages import down_time
from hpcsched.system.system import IntArray


@rule(lambda at: at.outages.all or (at.run.path / OUTAGES).is_file())
def recorded_outages(check: Check, at: AuditedRun) -> None:
    """Check that the outages are those that the scenario declares, drawn again.

    The file is `outages.parquet`.
    """
    rows = ParquetTable(at.run.path / OUTAGES).whole().to_pylist()
    check.expect("outages", len(at.outages.all), len(rows))
    # Another number of rows is reported above.
    for expected, row in zip(at.outages.all, rows, strict=False):
        start, end, kind, name, nodes = row.values()
        check.expect("an outage", tuple(expected), (start, end, tuple(nodes), kind, name))


@rule(lambda at: at.outages.all)
def service(check: Check, at: Replayed) -> None:
    """Check that nothing runs on a node that is out of service."""
    run, down = at.attempts, at.down
    job, node, begin, end, _ = _places(run)
    check.looked_at = len(node)
    # A job of no length must find its node in service all the same.
    keys, of_places = _ranked((down.node, down.start), (node, np.maximum(end, begin + 1)))
    k = np.searchsorted(keys, of_places) - 1
    hit = (k >= 0) & (down.node[k] == node) & (down.end[k] > begin)
    message = "job {}, from {} to {}: node {} is out of service from {} to {}"
    gone = at.node_names[down.node[k]], down.start[k], down.end[k]
    check.found_at(hit, message, job, begin, end, *gone)


@rule(lambda at: at.outages.all)
def announced(check: Check, at: Replayed) -> None:
    """Check that nothing starts that is predicted to run into an announced outage."""
    job, node, start, _, predicted = _places(at.attempts)
    check.looked_at = len(node)
    outages = [outage for outage in at.outages.all if outage.announced]
    begins = sorted((node, outage.start) for outage in outages for node in outage.nodes)
    if not begins:
        return
    down, since = np.array(begins).T
    keys, of_places = _ranked((down, since), (node, start))
    # The first outage of the node after the start.
    k = np.searchsorted(keys, of_places, side="right")
    there, k = k < len(keys), np.minimum(k, len(keys) - 1)
    hit = there & (down[k] == node) & (since[k] < predicted)
    message = (
        "job {}, started at {} and predicted to end at {}: an outage of node {} was"
        " announced for {}"
    )
    check.found_at(hit, message, job, start, predicted, at.node_names[down[k]], since[k])


def _places(run: Any) -> tuple[IntArray, ...]:
    """Return job, node, start, end and predicted end of each place of the jobs that ran."""
    row = run.place_row
    ran = run.ran[row]
    row, node = row[ran], run.node[ran]
    start = run.start_time[row]
    return run.job_id[row], node, start, run.end_time[row], start + run.predicted_run_time[row]


def _ranked(*pairs: tuple[IntArray, IntArray]) -> list[IntArray]:
    """Return whole numbers in the order of pairs of a node and a second."""
    instants = np.unique(np.concatenate([time for _, time in pairs]))
    return [node * len(instants) + np.searchsorted(instants, time) for node, time in pairs]


@rule(lambda at: at.outages.all)
def losses(check: Check, at: Replayed) -> None:
    """Check that attempts are lost only as a node goes out of service."""
    lost, failed = at.lost, at.lost.preempted_by < 0
    check.looked_at = len(lost.job_id)
    row = lost.place_row
    goes, ends = _ranked((at.down.node, at.down.start), (lost.node, lost.end_time[row]))
    gone = np.bincount(row[np.isin(ends, goes)], minlength=len(lost.job_id)) > 0
    message = "job {}: lost at {}, when none of its nodes went out of service"
    check.found_at(~gone & failed, message, lost.job_id, lost.end_time)
    paused = at.suspended_within(lost, np.arange(len(lost.job_id)))
    length, run_time = lost.end_time - lost.start_time - paused, np.full(len(lost.job_id), np.inf)
    rows, of = match(at.trace.job_id, lost.job_id)
    run_time[rows] = np.inf if at.checkpoints else at.trace.run_time[of]
    message = "job {}: lost at {}, when it had ended, or not begun"
    wrong = (length < 0) | (length >= run_time)
    check.found_at(wrong & ~lost.suspended, message, lost.job_id, lost.end_time)


@rule()
def losses_of_jobs(check: Check, at: Replayed) -> None:
    """Check that requeues, lost times and failures are those of the attempts that were lost.

    Without outages no attempt was lost.
    """
    lost, run, again = at.lost, at.jobs, at.lost.requeued
    failed = lost.preempted_by < 0
    if at.outages.requeue:
        check.expect("attempts that were not tried again", 0, int((~again & failed).sum()))
    else:
        check.expect("attempts that were tried again", 0, int((again & failed).sum()))
    rows, of = match(run.job_id, lost.job_id[again])
    requeues, times = np.zeros((2, len(run.job_id)), dtype=np.int64)
    np.add.at(requeues, of, 1)
    np.add.at(times, of, lost.lost_time[again][rows])
    check.looked_at += 2 * len(run.job_id)
    check.differ("job {}: requeues", requeues, run.requeues, run.job_id)
    check.differ("job {}: lost_time", times, run.lost_time, run.job_id)
    for state, left in (("failed", failed), ("preempted", ~failed & ~lost.suspended)):
        expected, found = (_times(lost, ~again & left), _times(run, run.state == state))
        check.expect(f"{state} jobs, with start and end", expected, found)


def _times(columns: LostColumns, rows: Any) -> list[tuple[int, ...]]:
    """Return job, start and end of some rows."""
    chosen = (columns.job_id[rows], columns.start_time[rows], columns.end_time[rows])
    return sorted(set(zip(*(column.tolist() for column in chosen), strict=True)))


@rule(lambda at: len(at.lost.job_id))
def lost_requests(check: Check, at: Replayed) -> None:
    """Check that attempts that were lost are those of their jobs."""
    lost, trace, run = at.lost, at.trace, at.jobs
    check.looked_at = len(lost.job_id)
    message = "job {}: expected to be in the trace, found only as lost"
    check.found_at(~np.isin(lost.job_id, trace.job_id), message, lost.job_id)
    rows, of = match(trace.job_id, lost.job_id)
    ids = lost.job_id[rows]
    check.differ("job {}: units of a lost attempt", trace.units[of], lost.units[rows], ids)
    for r, name in enumerate(at.system.resource_types):
        expected, found = trace.unit_request[of, r], lost.unit_request[rows, r]
        check.differ("job {}: unit_request of {} of a lost attempt", expected, found, ids, name)
    left = np.isin(run.state, ("failed", "preempted"))
    failed = dict(zip(run.job_id.tolist(), _allocations(run, left), strict=True))
    for job_id, places in zip(
        lost.job_id.tolist(), _allocations(lost, ~lost.requeued & ~lost.suspended), strict=True
    ):
        if places is not None and job_id in trace.job_id:
            check.expect(f"job {job_id}: nodes and units", failed.get(job_id), places)


def _allocations(columns: LostColumns, rows: Any) -> list[list[tuple[int, int]] | None]:
    """Return the nodes of some rows, with the units on each; None for the others."""
    pairs = list(zip(columns.node.tolist(), columns.node_units.tolist(), strict=True))
    ends = np.cumsum(columns.places)
    spans = zip((ends - columns.places).tolist(), ends.tolist(), rows.tolist(), strict=True)
    return [pairs[begin:end] if wanted else None for begin, end, wanted in spans]


@rule(lambda at: "outages" in at.run.summary or (at.run.path / OUTAGES).is_file())
def outage_figures(check: Check, at: AuditedRun) -> None:
    """Check that the summary's figures of outages agree with the outages."""
    stated, recorded = at.run.summary.get("outages"), (at.run.path / OUTAGES).is_file()
    check.expect("outages: figures beside the file", recorded, stated is not None)
    # The check goes on without them, so that every missing figure is named.
    stated = stated or {}
    lost, failed = at.lost, at.lost.preempted_by < 0
    seconds = np.where(failed, lost.lost_time, 0)
    # Python integers: bytes × seconds may need more than 64 bits.
    amounts = (lost.units * seconds)[:, np.newaxis] * lost.unit_request.astype(object)
    kinds = dict.fromkeys(outage.kind for outage in at.outages.all)
    down = {kind: down_time(o for o in at.outages.all if o.kind == kind) for kind in kinds}
    figures = {
        "interruptions": int(failed.sum()),
        "requeued": int((lost.requeued & failed).sum()),
        "lost_time": int(seconds.sum()),
        "lost_node_seconds": int((seconds * lost.places).sum()),
        "node_seconds_down": {kind: int((d.end - d.start).sum()) for kind, d in down.items()},
        "lost_amounts": dict(zip(at.system.resource_types, amounts.sum(axis=0), strict=True)),
    }
    for key, expected in figures.items():
        check.expect(f"outages.{key}", expected, stated.get(key))
