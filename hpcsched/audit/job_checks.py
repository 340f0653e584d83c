"""Checks of jobs: presence, requests, times, places, capacity, dependencies, recorded starts."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import (
    BoolArray,
    RunColumns,
    TraceColumns,
    group_names,
    levels_over_time,
    sums_upto,
)
from hpcsched.audit.violations import Check
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import FLAGS

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
    job = run.job_id
    check.found_at(
        rows[~known],
        lambda k: f"job {job[k]}: state: expected a known one, found {str(run.state[k])!r}",
    )
    rejected = run.state[rows] == "rejected"
    placed = (run.places[rows] > 0) | run.unpaired[rows]
    check.found_at(
        rows[run.predicted_run_time[rows] < 1],
        lambda k: (
            f"job {job[k]}: predicted_run_time: expected at least 1, found"
            f" {run.predicted_run_time[k]}"
        ),
    )
    has_times = run.has_start[rows] | run.has_end[rows] | run.has_run_time[rows]
    stated = {"requested-time": trace.requested_time, "actual": trace.run_time}.get(predictor)
    if stated is not None:
        predictions = np.maximum(stated[of], 1), run.predicted_run_time[rows]
        _expect_equal(check, "predicted_run_time", run.job_id[rows], *predictions)
    check.found_at(
        rows[rejected & (has_times | placed)],
        lambda k: f"job {job[k]}: expected no start, end or places of a rejected job",
    )
    check.found_at(
        rows[rejected != (run.rejected_by[rows] != "")],
        lambda k: f"job {job[k]}: expected rejected_by of rejected jobs alone",
    )
    check.found_at(
        rows[~rejected & ~(run.ran[rows] & run.has_run_time[rows])],
        lambda k: (
            f"job {job[k]}: state {run.state[k]}: expected a start and an end time, found none"
        ),
    )

    ran = run.ran[rows] & ~rejected
    rows, of = rows[ran], of[ran]
    ids, start, submit = run.job_id[rows], run.start_time[rows], trace.submit_time[of]
    check.found_at(
        np.flatnonzero(start < submit),
        lambda k: (
            f"job {ids[k]}: start_time: expected at least {submit[k]}, its submission, found"
            f" {start[k]}"
        ),
    )
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
    check.found_at(
        np.flatnonzero(expected != found),
        lambda k: f"job {ids[k]}: {name}: expected {expected[k]}, found {found[k]}",
    )


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

    check.found_at(
        np.flatnonzero(ran & run.unpaired),
        lambda k: f"job {run.job_id[k]}: expected units for each node, found other numbers",
    )
    place_row = run.place_row
    placed = np.zeros(len(run.job_id), dtype=np.int64)
    np.add.at(placed, place_row, run.node_units)
    wanted = placed.copy()
    wanted[rows] = trace.units[of]
    check.found_at(
        np.flatnonzero(ran & ~run.unpaired & (placed != wanted)),
        lambda k: f"job {run.job_id[k]}: units placed: expected {wanted[k]}, found {placed[k]}",
    )

    counted = ran[place_row]
    place_row, node, units = place_row[counted], run.node[counted], run.node_units[counted]
    # Later checks index capacity by node, so nodes that do not exist are dropped here.
    exists = run.on_known_nodes(system)[counted]
    job, last = run.job_id[place_row], system.node_count - 1
    check.found_at(
        np.flatnonzero(~exists),
        lambda p: f"job {job[p]}: node: expected a number from 0 to {last}, found {node[p]}",
    )
    check.found_at(
        np.flatnonzero(units < 1),
        lambda p: f"job {job[p]}, node {node[p]}: units: expected at least 1, found {units[p]}",
    )
    order = np.lexsort((node, place_row))
    again = (np.diff(place_row[order]) == 0) & (np.diff(node[order]) == 0)
    check.found_at(
        order[:-1][again],
        lambda p: f"job {job[p]}: node {node[p]}: expected once, found again",
    )
    _check_eligible(
        check, trace, system, tuple(c[exists] for c in (job, node, units, trace_of[place_row]))
    )
    return check


def _check_eligible(
    check: Check, trace: TraceColumns, system: System, places: tuple[IntArray, ...]
) -> None:
    """Check that places are on eligible nodes with enough capacity.

    `places` has the number of the job, the node, the units, and the place of the job in the trace.
    """
    job, node, units, traced = places

    def where(p: int) -> str:
        return system.node_name(int(node[p]))

    def groups(p: int) -> str:
        return ", ".join(sorted(trace.node_groups[traced[p]] or ())) or "no group"

    check.found_at(
        np.flatnonzero(~_in_group(trace, traced, node, system)),
        lambda p: f"job {job[p]}: node: expected one of {groups(p)}, found {where(p)}",
    )
    named = np.array([nodes is not None for nodes in trace.allowed_nodes])
    for p in np.flatnonzero(named[traced]).tolist():
        if int(node[p]) not in (trace.allowed_nodes[traced[p]] or ()):
            check.found(f"job {job[p]}: node: expected one that it may use, found {where(p)}")
    check.found_at(
        np.flatnonzero(trace.flags["one_unit_per_node"][traced] & (units > 1)),
        lambda p: f"job {job[p]}, node {where(p)}: units: expected 1 on each, found {units[p]}",
    )
    asked = units[:, np.newaxis] * trace.unit_request[traced]
    for p, r in np.argwhere(asked > system.capacity[node]).tolist():
        check.found(
            f"job {job[p]}, node {where(p)}: {system.resource_types[r]}: expected at most"
            f" {system.capacity[node[p], r]}, its capacity, found {asked[p, r]}"
        )


def _in_group(trace: TraceColumns, traced: IntArray, node: IntArray, system: System) -> BoolArray:
    """Return a mask of the places on a node of a group that the job may use, `[P]`."""
    fine = np.ones(len(node), dtype=np.bool_)
    names = group_names(system)
    # Few different wishes, many jobs: compare by number.
    number = {groups: k for k, groups in enumerate(dict.fromkeys(trace.node_groups))}
    wish = np.array([number[groups] for groups in trace.node_groups])[traced]
    for groups, k in number.items():
        if groups is not None:
            mine = wish == k
            fine[mine] = np.isin(names[node[mine]], list(groups))
    return fine


def check_capacity(run: RunColumns, system: System) -> Check:
    """Check that no node holds more than its capacity, for each resource type and instant.

    An exclusive job holds its nodes whole. Ends release before starts take at the same instant, and
    a zero-length job holds nothing.
    """
    check = Check("no node is overcommitted, or shared with an exclusive job, at any instant")
    row = run.place_row
    # Places on nodes that do not exist are reported by the check of places.
    holds = run.ran[row] & (run.end_time[row] > run.start_time[row]) & run.on_known_nodes(system)
    row, node, units = row[holds], run.node[holds], run.node_units[holds]
    capacity = system.capacity[node]
    allocated = np.where(
        run.flags["exclusive"][row, np.newaxis],
        capacity,
        units[:, np.newaxis] * run.unit_request[row],
    )

    at_node, at_time, level = levels_over_time(
        node, run.start_time[row], run.end_time[row], allocated
    )
    check.looked_at = len(at_node)

    def message(k: int, r: int) -> str:
        n, time = at_node[k], at_time[k]
        return (
            f"node {system.node_name(int(n))}, second {time}: {system.resource_types[r]}: expected"
            f" at most {system.capacity[n, r]}, its capacity, found {level[k, r]}, held by"
            f" {_holders(run, row[node == n], time)}"
        )

    for r in range(len(system.resource_types)):
        over = np.flatnonzero(level[:, r] > system.capacity[at_node, r])
        check.found_at(over, partial(message, r=r))
    return check


def _holders(run: RunColumns, rows: IntArray, time: int) -> str:
    """List the jobs among `rows` that run at `time`."""
    now = rows[(run.start_time[rows] <= time) & (time < run.end_time[rows])]
    return "jobs " + ", ".join(str(job_id) for job_id in sorted(run.job_id[now].tolist()))


def check_dependencies(trace: TraceColumns, run: RunColumns, match: Match) -> Iterator[Check]:
    """Yield the check that no job started before the jobs that it waits for had left.

    A job that comes later in the trace is not waited for. The instant at which a dispatcher
    rejected a job is not recorded: such a job is only known to have left no sooner than it was
    submitted.
    """
    if not any(trace.after):
        return
    check = Check("no job starts before those that it waits for have left, and its think time")
    place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
    rows, of = match
    row_of = dict(zip(of.tolist(), rows.tolist(), strict=True))
    for k, after in enumerate(trace.after):
        row = row_of.get(k)
        if row is None or not run.ran[row]:
            continue
        think_time, start = int(trace.think_time[k]), int(run.start_time[row])
        for other in after:
            before = place.get(other)
            # A reference to a later or unknown job is no dependency, as in the simulator's
            # specification.
            if before is None or before >= k:
                continue
            check.looked_at += 1
            job_id, its_row = int(run.job_id[row]), row_of.get(before)
            if its_row is None:
                check.found(f"job {job_id}: expected job {other} to have left, found it had not")
                continue
            left = run.end_time[its_row] if run.ran[its_row] else run.submit_time[its_row]
            if start < left + think_time:
                check.found(
                    f"job {job_id}: start_time: expected at least {left + think_time}, {think_time}"
                    f" s after job {other} left, found {start}"
                )
    yield check


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
    check.found_at(
        np.flatnonzero(late < 0),
        lambda k: (
            f"job {run.job_id[rows[k]]}: start_time: expected {due.at[of[k]]} or later,"
            f" found {run.start_time[rows[k]]}"
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
    busy = sums_upto(run.start_time, units, at) - sums_upto(run.end_time, units, at)
    free = int(system.capacity[:, asked].sum()) - busy
    check.looked_at += len(late)
    for k in np.flatnonzero(free >= run.units[late]).tolist():
        check.found(
            f"job {run.job_id[late[k]]}: expected to start at {at[k]}, when {free[k]} units were"
            f" free, found it started at {run.start_time[late[k]]}"
        )
