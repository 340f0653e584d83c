"""Checks of the summary's counts of jobs and rounds."""

from collections import Counter
from typing import Any

import numpy as np

from hpcsched.audit.columns import RunColumns
from hpcsched.audit.violations import Check, compare
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.solver_rounds import in_words, solver_rounds, warning
from hpcsched.system.system import IntArray
from hpcsched.workload.trace_source import TraceAccount

_STATES = ("completed", "killed", "rejected", "failed")


def check_account(
    jobs: dict[str, Any], run: RunColumns, account: TraceAccount, *, partial: bool
) -> Check:
    """Check that the counts of jobs balance, and equal those of the trace read again.

    Parameters
    ----------
    partial
        True for an interrupted run, which has not read the whole trace.
    """
    check = Check("the account of jobs balances, and is that of the trace read again")
    by_state = {state: int((run.state == state).sum()) for state in _STATES}
    for state, count in by_state.items():
        check.expect(f"jobs {state}", count, jobs.get(state))
    rules, counts = np.unique(run.rejected_by[run.rejected_by != ""], return_counts=True)
    by_rule = dict(zip(rules.tolist(), counts.tolist(), strict=True))
    check.expect("jobs rejected_by", by_rule, jobs.get("rejected_by"))
    # Waiting and running jobs are left only in a partial run.
    left = jobs.get("waiting", 0) + jobs.get("running", 0)
    check.expect("jobs submitted", sum(by_state.values()) + left, jobs.get("submitted"))
    ahead, skipped = jobs.get("not_yet_submitted", 0), jobs.get("skipped", {})
    accounted = jobs.get("submitted", 0) + ahead + sum(skipped.values())
    check.expect("records read", accounted, jobs.get("read"))
    if partial:
        check.notes.append("the run is partial: its account of the trace covers what it had read")
        return check
    check.expect("records read in the trace", account.read, jobs.get("read"))
    check.expect("jobs submitted in the trace", account.submitted, jobs.get("submitted"))
    for what in ("skipped", "clipped", "changed"):
        expected, found = dict(getattr(account, what)), jobs.get(what, {})
        check.expect(f"jobs.{what}: it is there", True, what in jobs)
        for reason in sorted({*expected, *found}):
            check.expect(f"{what} for {reason}", expected.get(reason, 0), found.get(reason, 0))
    return check


def check_rounds(run: RunDirectory, columns: RunColumns) -> Check:
    """Check that rounds add up to the jobs, and the summary's counts to the rounds."""
    check = Check("the rounds add up, and the summary's figures of them are right")
    figures = run.summary["rounds"]
    names = ("now", "latency", "started", "rejected", "fallback", "decision_time")
    rounds = run.rounds.read(*names)
    now, latency, started, rejected, fallback, seconds = (rounds[name].to_numpy() for name in names)
    done = now + latency
    check.expect("rounds", len(now), figures.get("count"))
    check.expect("rounds with a fallback", int(fallback.sum()), figures.get("fallbacks"))
    calls = run.rounds.read("solver")["solver"].to_pylist()
    statuses = Counter(call["status"] for call in calls if call is not None)
    check.expect("rounds by what the solver answered", dict(statuses), figures.get("solver"))
    asked = statuses.total()
    without_plan = asked - statuses["optimal"] - statuses["feasible"]
    check.expect("rounds that asked a solver", asked, figures.get("asked_solver"))
    check.expect("rounds without a plan", without_plan, figures.get("without_plan"))
    if without_plan:
        called = solver_rounds(statuses)
        check.notes.append(warning(called) or in_words(called))
    in_order = bool((latency >= 0).all() and (now[1:] >= done[:-1]).all())
    check.expect("rounds in order of time, one at a time", True, in_order)
    mean = float(np.mean(seconds)) if len(seconds) else None
    measured = run.timing["rounds"]
    compare(check, "decision_time_mean", mean, measured.get("decision_time_mean"))
    # Nearest rank in integers: a product with 0.99 would round at some counts.
    rank = (99 * len(seconds) + 99) // 100
    p99 = np.sort(seconds)[rank - 1].item() if rank else None
    compare(check, "decision_time_p99", p99, measured.get("decision_time_p99"))
    if not run.partial:
        in_jobs = int((columns.rejected_by == "dispatcher").sum())
        check.expect("jobs rejected by all rounds", in_jobs, int(rejected.sum()))
        _check_starts(check, columns.start_time[columns.ran], done, started)
    return check


def _check_starts(check: Check, start_time: IntArray, done: IntArray, started: IntArray) -> None:
    """Check the number of starts at each instant against the rounds."""
    check.expect("jobs started by all rounds", len(start_time), int(started.sum()))
    instants, at = np.unique(np.concatenate((start_time, done)), return_inverse=True)
    # Compared per instant, since a round is not recorded with the jobs that it started.
    by_jobs, by_rounds = (np.zeros(len(instants), dtype=np.int64) for _ in range(2))
    np.add.at(by_jobs, at[: len(start_time)], 1)
    np.add.at(by_rounds, at[len(start_time) :], started)
    check.looked_at += len(instants)
    differ = np.flatnonzero(by_jobs != by_rounds)
    check.found_many(
        len(differ),
        (
            f"second {instants[k]}: jobs started by rounds: expected {by_jobs[k]},"
            f" found {by_rounds[k]}"
            for k in differ.tolist()
        ),
    )
