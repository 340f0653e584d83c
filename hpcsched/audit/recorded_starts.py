"""Checks of a run that follows the recorded starts of its log."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import BoolArray, RunColumns, TraceColumns
from hpcsched.audit.jobs import Match
from hpcsched.audit.violations import Check
from hpcsched.system.system import IntArray, System


class DueTimes(NamedTuple):
    """Recorded starts of the jobs of a trace.

    Attributes
    ----------
    at
        Second at which each job is due, `[T]`.
    recorded
        True where the log records a start, `[T]`.
    """

    at: IntArray
    recorded: BoolArray


def due_times(trace: TraceColumns, waits: Mapping[int, int]) -> DueTimes:
    """Return the due times of jobs from their recorded waits; without one, the submit time."""
    numbers = trace.job_id.tolist()
    wait = np.array([waits.get(number, 0) for number in numbers], dtype=np.int64)
    recorded = np.array([number in waits for number in numbers], dtype=np.bool_)
    return DueTimes(trace.submit_time + wait, recorded)


def check_recorded_starts(
    summary: Mapping[str, Any],
    jobs: tuple[TraceColumns, RunColumns, Match],
    due: DueTimes | None,
    system: System,
    *,
    partial: bool,
    held_back: bool,
) -> Iterator[Check]:
    """Yield the check of starts and of the figures about them, if the run follows its log.

    Where each unit of every job is one of the same resource type, the check includes that there was
    no room for a late job when it was due. In a partial run the figures count jobs that are still
    running, and are not checked.

    Parameters
    ----------
    due
        Recorded starts; None if the dispatcher does not follow them.
    held_back
        True if partitions may hold jobs back, so that room alone does not decide.
    """
    stated = summary.get("recorded_starts")
    if due is None and stated is None:
        return
    check = Check("jobs start when the log says, or later for want of room; the figures are right")
    check.expect("recorded_starts: figures are there", due is not None, stated is not None)
    if due is None or stated is None:
        yield check
        return
    trace, run, (rows, of) = jobs
    ran = run.ran[rows]
    rows, of = rows[ran], of[ran]
    late = run.start_time[rows] - due.at[of]
    check.looked_at += len(rows)
    early = np.flatnonzero(late < 0).tolist()
    check.found_many(
        len(early),
        (
            f"job {run.job_id[rows[k]]}: start_time: expected {due.at[of[k]]} or later,"
            f" found {run.start_time[rows[k]]}"
            for k in early
        ),
    )
    if partial:
        check.notes.append("figures of a partial run count jobs that are running still")
    else:
        figures = {
            "jobs": len(rows),
            "without_start": int((~due.recorded[of]).sum()),
            "later": int((late > 0).sum()),
            "later_time": int(late[late > 0].sum()),
            "latest": int(late.max(initial=0)),
        }
        for name, value in figures.items():
            check.expect(f"recorded_starts.{name}", value, stated.get(name))
        # A partition's limit may keep a job waiting though there is room.
        if not held_back:
            _check_want_of_room(check, (trace, run), rows[late > 0], due.at[of[late > 0]], system)
    yield check


def _check_want_of_room(
    check: Check,
    jobs: tuple[TraceColumns, RunColumns],
    late: IntArray,
    at: IntArray,
    system: System,
) -> None:
    """Check that each late job lacked room when it was due, where counting units decides."""
    trace, run = jobs
    asked = trace.unit_request.any(axis=0)
    if not len(late):
        return
    special = any(flag.any() for flag in trace.flags.values()) or any(trace.allowed_nodes)
    if asked.sum() != 1 or (trace.unit_request[:, asked] != 1).any() or special:
        check.notes.append("whether late jobs lacked room was not checked: units are not all 1")
        return
    units = np.where(run.ran, run.units, 0)
    # Jobs without length have left again when the last round of the instant is over.
    busy = _upto(run.start_time, units, at) - _upto(run.end_time, units, at)
    free = int(system.capacity[:, asked].sum()) - busy
    check.looked_at += len(late)
    for k in np.flatnonzero(free >= run.units[late]).tolist():
        check.found(
            f"job {run.job_id[late[k]]}: expected to start at {at[k]}, when {free[k]} units were"
            f" free, found it started at {run.start_time[late[k]]}"
        )


def _upto(times: IntArray, units: IntArray, at: IntArray) -> IntArray:
    """Return the cumulative number of units up to and including each instant."""
    order = np.argsort(times, kind="stable")
    sums = np.concatenate(([0], np.cumsum(units[order])))
    return np.asarray(sums[np.searchsorted(times[order], at, side="right")])
