"""Checks of jobs: presence, requests, times, places, capacity, dependencies, recorded starts."""

import numpy as np

from hpcsched.audit.columns import (
    Amounts,
    AuditedRun,
    Replayed,
    levels_over_time,
    objects,
    sums_upto,
)
from hpcsched.audit.violations import BoolArray, Check, rule
from hpcsched.system.system import IntArray
from hpcsched.workload.job import FLAGS, WAITING_TIMES
from hpcsched.workload.preemption import RELEASED


@rule()
def presence(check: Check, at: Replayed) -> None:
    """Check that every job of the trace is there exactly once, and no other."""
    trace, run = at.trace.job_id, at.jobs.job_id
    check.looked_at = len(trace)
    for ids, where in ((trace, "the trace"), (run, "the run")):
        once, counts = np.unique(ids, return_counts=True)
        message = "job {}: expected once in {}, found {} times"
        check.found_at(counts > 1, message, once, where, counts)
    message = "job {}: expected to be in the trace, found only in the run"
    check.found_at(~np.isin(run, trace), message, run)
    if at.partial:
        check.notes.append("the run is partial: jobs that have not left are not there")
    else:
        message = "job {}: expected in the run, found only in the trace"
        check.found_at(~np.isin(trace, run), message, trace)


@rule()
def requests(check: Check, at: Replayed) -> None:
    """Check that submit times and requests are the trace's, demands follow from them."""
    (rows, of), trace, jobs = at.matched, at.trace, at.jobs
    check.looked_at, ids = len(rows), jobs.job_id[rows]
    for name in ("submit_time", "units", "requested_time", *WAITING_TIMES, *FLAGS):
        check.differ("job {}: {}", getattr(trace, name)[of], getattr(jobs, name)[rows], ids, name)
    for r, resource in enumerate(at.system.resource_types):
        expected, found = trace.unit_request[of, r], jobs.unit_request[rows, r]
        check.differ("job {}: unit_request of {}", expected, found, ids, resource)
    demands = jobs.demand[rows]
    # A demand too large for the file's whole numbers is a float there.
    whole = (trace.demand[k] for k in of.tolist())
    pairs = zip(whole, demands, strict=True)
    exact = objects([float(one) if isinstance(found, float) else one for one, found in pairs])
    check.differ("job {}: demand", exact, demands, ids)


@rule()
def times(check: Check, at: Replayed) -> None:
    """Check that no job starts before its submission, each ends when and as it must.

    Predictions are worked out again for the predictors that state what the trace has.
    """
    (rows, of), trace, run = at.matched, at.trace, at.jobs
    check.looked_at = len(rows)
    ids, state = run.job_id[rows], run.state[rows]
    # An unknown state is reported first; the comparisons below would hide it.
    known = np.isin(state, ("completed", "killed", "rejected", "failed", "preempted", "withdrawn"))
    check.found_at(~known, "job {}: state: expected a known one, found {!r}", ids, state)
    predicted = run.predicted_run_time[rows]
    message = "job {}: predicted_run_time: expected at least 1, found {}"
    check.found_at(predicted < 1, message, ids, predicted)
    stated = {"requested-time": trace.requested_time, "actual": trace.run_time}.get(at.predictor)
    if stated is not None:
        check.differ("job {}: predicted_run_time", np.maximum(stated[of], 1), predicted, ids)
    rejected, withdrawn = state == "rejected", run.withdrawn[rows]
    present = (
        run.has_start_time | run.has_end_time | run.has_run_time | (run.places > 0) | run.unpaired
    )
    message = "job {}: expected no start, end or places of a {} job"
    check.found_at((rejected | withdrawn) & present[rows], message, ids, state)
    message = "job {}: expected rejected_by of rejected jobs alone"
    check.found_at(rejected != (run.rejected_by[rows] != ""), message, ids)
    message = "job {}: state {}: expected a start and an end time, found none"
    started = ~(rejected | withdrawn)
    check.found_at(started & ~(run.ran & run.has_run_time)[rows], message, ids, state)
    patience = trace.patience[of]
    check.found_at(withdrawn & (patience < 0), "job {}: expected it to wait for ever", ids)

    ran = run.ran[rows] & started
    rows, of, ids, state = rows[ran], of[ran], ids[ran], state[ran]
    start, end, submit = run.start_time[rows], run.end_time[rows], trace.submit_time[of]
    delay = trace.begin_delay[of]
    of_what = np.where(delay > 0, "begin time", "submission")
    message = "job {}: start_time: expected at least {}, its {}, found {}"
    check.found_at(start < submit + delay, message, ids, submit + delay, of_what, start)
    leave, first = submit + trace.patience[of], run.requeues[rows] == 0
    message = "job {}: start_time: expected a time before {}, when it is withdrawn, found {}"
    check.found_at((trace.patience[of] >= 0) & first & (start >= leave), message, ids, leave, start)
    limit = trace.requested_time[of] if at.kill_at_requested_time else trace.run_time[of]
    # When a failed or preempted job must have ended is checked with the outages or preemptions.
    failed = np.isin(state, ("failed", "preempted"))
    paused = at.suspended_within(run, rows)
    needed = np.minimum(trace.run_time[of], limit)
    if at.checkpoints is not None:
        done = [at.done.get(job_id, 0) for job_id in ids.tolist()]
        needed = np.array(
            [
                at.checkpoints.run_time(work - before, restarts=before > 0)
                for work, before in zip(needed.tolist(), done, strict=True)
            ],
            dtype=np.int64,
        )
    run_time = np.where(failed, end - start - paused, needed)
    ending = np.where(trace.run_time[of] > limit, "killed", "completed")
    check.differ("job {}: end_time", start + run_time + paused, end, ids)
    check.differ("job {}: run_time", end - start - paused, run.run_time[rows], ids)
    check.differ("job {}: state", np.where(failed, state, ending), state, ids)


@rule()
def places(check: Check, at: Replayed) -> None:
    """Check that each job's units are all placed, on nodes that it may use and fits on."""
    (rows, of), trace, run = at.attempts_matched, at.trace, at.attempts
    # Rows without a job of the trace are reported by the check of presence; 0 is not used for
    # them.
    trace_of = np.zeros_like(run.job_id)
    trace_of[rows] = of
    ran = np.isin(np.arange(len(run.job_id)), rows) & run.ran
    check.looked_at = int(run.places[ran].sum())
    message = "job {}: expected units for each node, found other numbers"
    check.found_at(ran & run.unpaired, message, run.job_id)
    placed = np.zeros(len(run.job_id), dtype=np.int64)
    np.add.at(placed, run.place_row, run.node_units)
    wanted = np.where(ran & ~run.unpaired, 0, placed)
    complete = rows[ran[rows] & ~run.unpaired[rows]]
    wanted[complete] = trace.units[trace_of[complete]]
    check.differ("job {}: units placed", wanted, placed, run.job_id)

    counted = ran[run.place_row]
    row, node, units = run.place_row[counted], run.node[counted], run.node_units[counted]
    job, last = run.job_id[row], at.system.node_count - 1
    message = "job {}: node: expected a number from 0 to {}, found {}"
    check.found_at(~at.exists(node), message, job, last, node)
    message = "job {}, node {}: units: expected at least 1, found {}"
    check.found_at(units < 1, message, job, node, units)
    order, again = np.lexsort((node, row)), np.zeros(len(row), dtype=np.bool_)
    again[order[1:]] = (np.diff(row[order]) == 0) & (np.diff(node[order]) == 0)
    check.found_at(again, "job {}: node {}: expected once, found again", job, node)

    # Capacity is indexed by node, so nodes that do not exist are dropped here.
    exists = at.exists(node)
    job, node, units, traced = job[exists], node[exists], units[exists], trace_of[row[exists]]
    names, groups = at.node_names[node], at.group_names[node]

    def group(p: int) -> str:
        return ", ".join(sorted(trace.node_groups[traced[p]] or ())) or "no group"

    outside = _outside(objects(trace.node_groups)[traced], groups)
    check.found_at(outside, "job {}: node: expected one of {}, found {}", job, group, names)
    outside = _outside(objects(trace.allowed_nodes)[traced], node)
    check.found_at(outside, "job {}: node: expected one that it may use, found {}", job, names)
    message = "job {}, node {}: units: expected 1 on each, found {}"
    check.found_at(trace.one_unit_per_node[traced] & (units > 1), message, job, names, units)
    asked, most = units[:, np.newaxis] * trace.unit_request[traced], at.system.capacity[node]
    message = "job {}, node {}: {}: expected at most {}, its capacity, found {}"
    for r, resource in enumerate(at.system.resource_types):
        over = asked[:, r] > most[:, r]
        check.found_at(over, message, job, names, resource, most[:, r], asked[:, r])


def _outside(allowed: Amounts, found: Amounts) -> BoolArray:
    """Return the mask of the values that are not among those allowed; None allows any."""
    bound: BoolArray = np.array([values is not None for values in allowed], dtype=np.bool_)
    pairs = zip(allowed[bound], found[bound].tolist(), strict=True)
    bound[bound] = [value not in values for values, value in pairs]
    return bound


@rule()
def capacity(check: Check, at: Replayed) -> None:
    """Check that no node is overcommitted, or shared with an exclusive job, at any instant.

    That holds for each resource type.

    An exclusive job holds its nodes whole. Ends release before starts take at the same instant, and
    a zero-length job holds nothing.
    """
    run = at.attempts
    row = run.place_row
    # Places on nodes that do not exist are reported by the check of places.
    holds = run.ran[row] & (run.end_time[row] > run.start_time[row]) & at.exists(run.node)
    row, node, units = row[holds], run.node[holds], run.node_units[holds, np.newaxis]
    exclusive, whole = run.exclusive[row, np.newaxis], at.system.capacity[node]
    allocated = np.where(exclusive, whole, units * run.unit_request[row])
    spans = run.start_time[row], run.end_time[row]
    # A suspended job has released a part of what it holds.
    lost = at.lost
    paused = lost.suspended[lost.place_row] & (lost.end_time > lost.start_time)[lost.place_row]
    paused &= at.exists(lost.node)
    of, there = lost.place_row[paused], lost.node[paused]
    asked = lost.node_units[paused, np.newaxis] * lost.unit_request[of]
    held = np.where(at.exclusive_lost[of, np.newaxis], at.system.capacity[there], asked)
    released = -held * (np.array(at.system.resource_types) == RELEASED)
    at_node, at_time, level = levels_over_time(
        np.concatenate((node, there)),
        np.concatenate((spans[0], lost.start_time[of])),
        np.concatenate((spans[1], lost.end_time[of])),
        np.concatenate((allocated, released)),
    )
    check.looked_at = len(at_node)

    def holders(k: int) -> str:
        mine = row[node == at_node[k]]
        now = (run.start_time[mine] <= at_time[k]) & (at_time[k] < run.end_time[mine])
        return ", ".join(map(str, np.sort(run.job_id[mine[now]])))

    message = "node {}, second {}: {}: expected at most {}, its capacity, found {}, held by jobs {}"
    names, most = at.node_names[at_node], at.system.capacity[at_node]
    for r, resource in enumerate(at.system.resource_types):
        columns = names, at_time, resource, most[:, r], level[:, r], holders
        check.found_at(level[:, r] > most[:, r], message, *columns)


@rule(lambda at: any(at.trace.after))
def dependencies(check: Check, at: Replayed) -> None:
    """Check that no job starts before those that it waits for have left, and its think time.

    A job that comes later in the trace is not waited for. The instant at which a dispatcher
    rejected a job is not recorded: such a job is only known to have left no sooner than it was
    submitted.
    """
    (rows, of), trace, run = at.matched, at.trace, at.jobs
    place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
    ran = run.ran[rows]
    row_of = np.full(len(trace.job_id), -1)
    row_of[of] = rows
    # A reference to a later or unknown job is no dependency, as in the simulator's specification.
    pairs = [
        (row_of[k], row_of[place[other]], k, other)
        for k in np.sort(of[ran]).tolist()
        for other in trace.after[k]
        if place.get(other, k) < k
    ]
    mine, its, traced, other = np.array(pairs, dtype=np.int64).reshape(-1, 4).T
    check.looked_at, ids = len(mine), run.job_id[mine]
    message = "job {}: expected job {} to have left, found it had not"
    check.found_at(its < 0, message, ids, other)
    think = trace.think_time[traced]
    earliest = run.left_at[its] + think
    start = run.start_time[mine]
    message = "job {}: start_time: expected at least {}, {} s after job {} left, found {}"
    early = (its >= 0) & (start < earliest)
    check.found_at(early, message, ids, earliest, think, other, start)


@rule(lambda at: at.due is not None or "recorded_starts" in at.run.summary)
def recorded_starts(check: Check, at: AuditedRun) -> None:
    """Check that jobs start when the log says, or later for want of room; the figures are right.

    Where each unit of every job is one of the same resource type, the check includes that there was
    no room for a late job when it was due. In a partial run the figures count jobs that are still
    running, and are not checked.
    """
    stated, due = at.run.summary.get("recorded_starts"), at.due
    check.expect("recorded_starts: figures are there", due is not None, stated is not None)
    if due is None or stated is None:
        return
    (rows, of), run = at.matched, at.jobs
    ran = run.ran[rows]
    rows, of = rows[ran], of[ran]
    ids, start, expected = run.job_id[rows], run.start_time[rows], due.at[of]
    late = start - expected
    check.looked_at += len(rows)
    message = "job {}: start_time: expected {} or later, found {}"
    check.found_at(late < 0, message, ids, expected, start)
    if at.partial:
        check.notes.append("figures of a partial run count jobs that are running still")
        return
    for name, value in (
        ("jobs", len(rows)),
        ("without_start", int((~due.recorded[of]).sum())),
        ("later", int((late > 0).sum())),
        ("later_time", int(late[late > 0].sum())),
        ("latest", int(late.max(initial=0))),
    ):
        check.expect(f"recorded_starts.{name}", value, stated.get(name))
    # A partition's limit may keep a job waiting though there is room.
    if not (at.partitions or at.limits.any) and (late > 0).any():
        _want_of_room(check, at, rows[late > 0], expected[late > 0])


def _want_of_room(check: Check, at: AuditedRun, late: IntArray, due: IntArray) -> None:
    """Check that each late job lacked room when it was due, where counting units decides."""
    trace, run = at.trace, at.jobs
    asked = trace.unit_request.any(axis=0)
    special = trace.exclusive.any() or trace.one_unit_per_node.any() or any(trace.allowed_nodes)
    if asked.sum() != 1 or (trace.unit_request[:, asked] != 1).any() or special:
        check.notes.append("whether late jobs lacked room was not checked: units are not all 1")
        return
    units = np.where(run.ran, run.units, 0)
    # Jobs without length have left again when the last round of the instant is over.
    busy = sums_upto(run.start_time, units, due) - sums_upto(run.end_time, units, due)
    free = int(at.system.capacity[:, asked].sum()) - busy
    check.looked_at += len(late)
    message = "job {}: expected to start at {}, when {} units were free, found it started at {}"
    columns = run.job_id[late], due, free, run.start_time[late]
    check.found_at(free >= run.units[late], message, *columns)
