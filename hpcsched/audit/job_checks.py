"""Checks of jobs: presence, requests, times, places, capacity, dependencies, recorded starts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import BoolArray, RunColumns, TraceColumns
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


def check_capacity(run: RunColumns, system: System) -> Check:
    """Check that no node holds more than its capacity, for each resource type and instant.

    An exclusive job holds its nodes whole. Ends release before starts take at the same instant, and
    a zero-length job holds nothing.
    """
    check = Check("no node is overcommitted, or shared with an exclusive job, at any instant")
    row = run.place_row
    exists = (run.node >= 0) & (run.node < system.node_count)
    # Places on nodes that do not exist are reported by the check of places.
    holds = run.ran[row] & (run.end_time[row] > run.start_time[row]) & exists
    row, node, units = row[holds], run.node[holds], run.node_units[holds]
    capacity = system.capacity[node]
    allocated = np.where(
        run.flags["exclusive"][row, np.newaxis],
        capacity,
        units[:, np.newaxis] * run.unit_request[row],
    )

    event_node = np.concatenate((node, node))
    event_time = np.concatenate((run.start_time[row], run.end_time[row]))
    # Sorted by node, then time: one cumulative sum covers all nodes.
    order = np.lexsort((event_time, event_node))
    event_node, event_time = event_node[order], event_time[order]
    new = np.full(len(order), True)
    new[1:] = (np.diff(event_node) != 0) | (np.diff(event_time) != 0)
    instants = np.flatnonzero(new)
    check.looked_at = len(instants)
    if not len(instants):
        return check
    at_node, at_time = event_node[instants], event_time[instants]
    for r, resource in enumerate(system.resource_types):
        change = np.concatenate((allocated[:, r], -allocated[:, r]))[order]
        # All that a node takes it gives back, so that the sum starts anew with each node.
        level = np.cumsum(np.add.reduceat(change, instants))
        room = system.capacity[at_node, r]
        over = np.flatnonzero(level > room)
        check.found_many(
            len(over),
            (
                f"node {system.node_name(n)}, second {time}: {resource}: expected at most {most},"
                f" its capacity, found {found}, held by {_holders(run, row[node == n], time)}"
                for n, time, most, found in zip(
                    at_node[over].tolist(),
                    at_time[over].tolist(),
                    room[over].tolist(),
                    level[over].tolist(),
                    strict=True,
                )
            ),
        )
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
