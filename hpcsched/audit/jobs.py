"""Checks that the jobs of a run are those of the trace, and that their times are right."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.violations import Check
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job_columns import FLAGS

Match = tuple[IntArray, IntArray]
"""Rows of the run, and the jobs' places in the trace, `[M]` each."""


def check_presence(trace: TraceColumns, run: RunColumns, *, partial: bool) -> Check:
    """Check that each job of the trace occurs once, and no other job.

    A partial run may lack jobs.
    """
    often = "at most once" if partial else "exactly once"
    check = Check(f"every job of the trace is there {often}, and no other", len(trace.job_id))
    for columns, where in ((trace, "the trace"), (run, "the run")):
        ids, counts = np.unique(columns.job_id, return_counts=True)
        twice = counts > 1
        for job_id, count in zip(ids[twice].tolist(), counts[twice].tolist(), strict=True):
            check.found(f"job {job_id}: expected once in {where}, found {count} times")
    for job_id in np.setdiff1d(run.job_id, trace.job_id).tolist():
        check.found(f"job {job_id}: expected to be in the trace, found only in the run")
    if not partial:
        for job_id in np.setdiff1d(trace.job_id, run.job_id).tolist():
            check.found(f"job {job_id}: expected in the run, found only in the trace")
    return check


def check_requests(trace: TraceColumns, run: RunColumns, match: Match, system: System) -> Check:
    """Check that each job has the submit time and the request of the trace."""
    rows, of = match
    check = Check("submit times and requests are the trace's, demands follow from them", len(rows))
    ids = run.job_id[rows]
    numbers = ("submit_time", "units", "requested_time")
    compared = {name: (getattr(trace, name), getattr(run, name)) for name in numbers}
    compared |= {name: (trace.flags[name], run.flags[name]) for name in FLAGS}
    for name, (asked, said) in compared.items():
        _expect_equal(check, name, ids, asked[of], said[rows])
    for r, resource in enumerate(system.resource_types):
        expected, found = trace.unit_request[of, r], run.unit_request[rows, r]
        _expect_equal(check, f"unit_request of {resource}", ids, expected, found)
    for job_id, row, k in zip(ids.tolist(), rows.tolist(), of.tolist(), strict=True):
        demand, found = trace.demand[k], run.demand[row]
        # A demand too large for the file's whole numbers is a float there.
        if found != (float(demand) if isinstance(found, float) else demand):
            check.found(f"job {job_id}: demand: expected {demand}, found {found}")
    return check


def check_times(
    trace: TraceColumns,
    run: RunColumns,
    match: Match,
    *,
    kill_at_requested_time: bool,
    predictor: str = "",
) -> Check:
    """Check starts, ends and states.

    Parameters
    ----------
    kill_at_requested_time
        True if the simulated system ends jobs at their requested time.
    predictor
        Predictor by name; predictions are worked out again for the two that state what the trace
        has, `requested-time` and `actual`.
    """
    rows, of = match
    check = Check("no job starts before its submission, each ends when and as it must", len(rows))
    # An unknown state is reported first; the comparisons below would hide it.
    known = np.isin(run.state[rows], ("completed", "killed", "rejected", "failed"))
    for row in rows[~known].tolist():
        check.found(
            f"job {run.job_id[row]}: state: expected a known one, found {str(run.state[row])!r}"
        )
    rejected = run.state[rows] == "rejected"
    placed = (run.places[rows] > 0) | run.unpaired[rows]
    for row in rows[run.predicted_run_time[rows] < 1].tolist():
        predicted = run.predicted_run_time[row]
        check.found(
            f"job {run.job_id[row]}: predicted_run_time: expected at least 1, found {predicted}"
        )
    has_times = run.has_start[rows] | run.has_end[rows] | run.has_run_time[rows]
    stated = {"requested-time": trace.requested_time, "actual": trace.run_time}.get(predictor)
    if stated is not None:
        predictions = np.maximum(stated[of], 1), run.predicted_run_time[rows]
        _expect_equal(check, "predicted_run_time", run.job_id[rows], *predictions)
    odd = rejected & (has_times | placed)
    for row in rows[odd].tolist():
        check.found(f"job {run.job_id[row]}: expected no start, end or places of a rejected job")
    unsaid = rejected != (run.rejected_by[rows] != "")
    for row in rows[unsaid].tolist():
        check.found(f"job {run.job_id[row]}: expected rejected_by of rejected jobs alone")
    timeless = ~rejected & ~(run.ran[rows] & run.has_run_time[rows])
    for row in rows[timeless].tolist():
        check.found(
            f"job {run.job_id[row]}: state {run.state[row]}: expected a start and an end time,"
            " found none"
        )

    ran = run.ran[rows] & ~rejected
    rows, of = rows[ran], of[ran]
    ids, start, submit = run.job_id[rows], run.start_time[rows], trace.submit_time[of]
    early = start < submit
    for job_id, s, t in zip(
        ids[early].tolist(), start[early].tolist(), submit[early].tolist(), strict=True
    ):
        check.found(f"job {job_id}: start_time: expected at least {t}, its submission, found {s}")
    run_time, state = trace.run_time[of], np.full(len(of), "completed")
    if kill_at_requested_time:
        over = run_time > trace.requested_time[of]
        run_time = np.minimum(run_time, trace.requested_time[of])
        state[over] = "killed"
    # When a failed job must have ended is checked with the outages.
    failed = run.state[rows] == "failed"
    state[failed] = "failed"
    run_time = np.where(failed, run.end_time[rows] - start, run_time)
    _expect_equal(check, "end_time", ids, start + run_time, run.end_time[rows])
    _expect_equal(check, "run_time", ids, run.end_time[rows] - start, run.run_time[rows])
    _expect_equal(check, "state", ids, state, run.state[rows])
    return check


def _expect_equal(
    check: Check, name: str, ids: IntArray, expected: Any, found: Sequence[Any] | Any
) -> None:
    """Count a violation for each row in which two columns differ."""
    differ = expected != found
    check.found_many(
        int(differ.sum()),
        (
            f"job {job_id}: {name}: expected {e}, found {f}"
            for job_id, e, f in zip(
                ids[differ].tolist(), expected[differ].tolist(), found[differ].tolist(), strict=True
            )
        ),
    )
