"""Checks of preemption: who preempted whom, when, and what it cost."""

from typing import NamedTuple

import numpy as np

from hpcsched.audit.columns import AuditedRun, LostColumns, Replayed
from hpcsched.audit.partitions import partition_of
from hpcsched.audit.violations import Check, rule
from hpcsched.system.system import IntArray
from hpcsched.workload.preemption import PreemptClass


def _classes(at: Replayed) -> dict[int, PreemptClass]:
    """Return the class of each job that has one, by job number."""
    preemption, trace = at.preemption, at.trace
    if preemption is None or not preemption.classes:
        return {}
    found = np.zeros(len(trace.job_id), dtype=np.int64)
    if preemption.by == "partition":
        found = partition_of(trace, at.partitions)
    elif preemption.by == "qos":
        found[:] = -1
        for k, one in enumerate(preemption.classes):
            named = trace.names["queue"] == one.name
            if one.name.isdecimal():
                named |= trace.numbers["queue"] == int(one.name)
            found[(found == -1) & named] = k
    pairs = zip(trace.job_id.tolist(), found.tolist(), strict=True)
    return {job_id: preemption.classes[k] for job_id, k in pairs if k >= 0}


class _Attempt(NamedTuple):
    """An attempt of a job, or an interval in which it was suspended, with its nodes."""

    start: int
    end: int
    nodes: frozenset[int]


def _by_job(columns: LostColumns, rows: IntArray) -> dict[int, list[_Attempt]]:
    """Return some rows by job number, in order of their starts."""
    found: dict[int, list[_Attempt]] = {}
    last = np.cumsum(columns.places)
    for k in rows[np.argsort(columns.start_time[rows], kind="stable")].tolist():
        nodes = columns.node[last[k] - columns.places[k] : last[k]].tolist()
        times = int(columns.start_time[k]), int(columns.end_time[k])
        found.setdefault(int(columns.job_id[k]), []).append(_Attempt(*times, frozenset(nodes)))
    return found


@rule(
    lambda at: at.preemption or (at.lost.preempted_by >= 0).any(),
    claim="jobs are preempted by those that may, after their exempt time, as their class says",
)
def preemptions(check: Check, at: Replayed) -> None:
    """Check mode, exempt time and grace time of each preemption, and the preemptor's start."""
    lost, classes = at.lost, _classes(at)
    attempts = _by_job(at.attempts, np.flatnonzero(at.attempts.ran))
    pauses = _by_job(lost, np.flatnonzero(lost.suspended))
    submits = dict(zip(at.trace.job_id.tolist(), at.trace.submit_time.tolist(), strict=True))
    rows = np.flatnonzero((lost.preempted_by >= 0) | lost.suspended).tolist()
    check.looked_at = len(rows)
    places = _by_row(lost)
    when = {}
    for row in rows:
        victim = classes.get(int(lost.job_id[row]))
        grace = 0 if victim is None or lost.suspended[row] else victim.grace
        when[row] = int(lost.start_time[row] if lost.suspended[row] else lost.end_time[row] - grace)
    # While one of its victims has a grace time, a preemptor waits.
    waits = {
        (int(lost.preempted_by[row]), time)
        for row, time in when.items()
        if time < lost.end_time[row] and not lost.suspended[row]
    }
    for row, time in when.items():
        job_id, by = int(lost.job_id[row]), int(lost.preempted_by[row])
        victim, preemptor = classes.get(job_id), classes.get(by)
        where = f"job {job_id}, preempted at {time} by job {by}"
        by_class = at.preemption is not None and at.preemption.by != "priority"
        if victim is None or preemptor is None or by == job_id:
            check.found(f"{where}: expected jobs that are preempted and preempt")
            continue
        if by_class and victim.name not in preemptor.preempts:
            check.found(f"{where}: expected a job of another class")
        how = "suspend" if lost.suspended[row] else "requeue" if lost.requeued[row] else "cancel"
        if how != victim.mode:
            check.found(f"{where}: expected the mode {victim.mode}, found {how}")
        its = [one for one in attempts.get(job_id, ()) if one.start <= time <= one.end]
        if its:
            begin, paused = its[-1].start, pauses.get(job_id, ())
            ran = time - begin - sum(p.end - p.start for p in paused if begin <= p.start < time)
            if ran < victim.exempt or (lost.suspended[row] and places[row] != its[-1].nodes):
                check.found(f"{where}: expected {victim.exempt} s of run time before, found {ran}")
        elif not at.partial or not lost.suspended[row]:
            check.found(f"{where}: expected it to run then")
        after = [one for one in attempts.get(by, ()) if one.start >= time]
        if submits[by] > time or not (after or at.partial):
            check.found(f"{where}: expected the preemptor to wait then, and to start")
            continue
        at_once = not after or (after[0].start == time and after[0].nodes & places[row])
        if (by, time) not in waits and not at_once:
            check.found(f"{where}: expected the preemptor to start then, on a node of it")


def _by_row(columns: LostColumns) -> list[frozenset[int]]:
    """Return the nodes of each row."""
    last = np.cumsum(columns.places)
    spans = zip((last - columns.places).tolist(), last.tolist(), strict=True)
    return [frozenset(columns.node[begin:end].tolist()) for begin, end in spans]


@rule(lambda at: len(at.lost.job_id))
def attempt_times(check: Check, at: Replayed) -> None:
    """Check that run times and lost times of attempts follow from suspensions and checkpoints."""
    lost = at.lost
    check.looked_at = len(lost.job_id)
    every_row = np.arange(len(lost.job_id))
    ran = lost.end_time - lost.start_time - at.suspended_within(lost, every_row)
    kept = np.array([at.saved_in.get(k, 0) for k in every_row.tolist()], dtype=np.int64)
    ids, ends = lost.job_id, lost.end_time
    ran = np.where(lost.suspended, 0, ran)
    check.differ("job {}, lost at {}: run_time", ran, lost.run_time, ids, ends)
    check.differ("job {}, lost at {}: lost_time", ran - kept, lost.lost_time, ids, ends)


@rule(lambda at: at.preemption or "preemption" in at.run.summary or "goodput" in at.run.summary)
def preemption_figures(check: Check, at: AuditedRun) -> None:
    """Check that the summary's figures of preemption and goodput agree with the jobs."""
    lost, run = at.lost, at.jobs
    rows = lost.preempted_by >= 0
    seconds = np.where(lost.suspended, lost.end_time - lost.start_time, 0)
    figures = {
        "preemptions": int(rows.sum()),
        "requeued": int((rows & lost.requeued).sum()),
        "cancelled": int((rows & ~lost.requeued & ~lost.suspended).sum()),
        "suspended": int((rows & lost.suspended).sum()),
        "suspended_time": int(seconds[rows].sum()),
        "lost_time": int(lost.lost_time[rows].sum()),
        "lost_node_seconds": int((lost.lost_time * lost.places)[rows].sum()),
    }
    stated = at.run.summary.get("preemption")
    if at.preemption is not None and at.preemption.classes:
        for name, value in figures.items():
            check.expect(f"preemption.{name}", value, (stated or {}).get(name))
    again = lost.requeued
    held = int((run.run_time * run.places)[run.ran].sum())
    held += int((lost.run_time * lost.places)[again].sum())
    useful = int(((lost.run_time - lost.lost_time) * lost.places)[again].sum())
    ended = np.isin(run.state, ("completed", "killed"))
    needed = np.array([at.work_of(k) for k in np.flatnonzero(ended).tolist()], dtype=np.int64)
    useful += int((needed * run.places[ended]).sum())
    if "goodput" in at.run.summary:
        check.compare("goodput", useful / held if held else None, at.run.summary["goodput"])
