"""Checks of `rounds.parquet`: instants, numbers of jobs, latency, choices, requested rounds."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hpcsched.audit.columns import Charge, LostColumns, RunColumns, TraceColumns
from hpcsched.audit.job_checks import DueTimes
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.system.outages import Outages
from hpcsched.system.system import IntArray, System
from hpcsched.workload.site_partitions import Partitions


@dataclass(frozen=True, slots=True)
class RoundColumns:
    """Rows of `rounds.parquet`, `[K]`.

    Attributes
    ----------
    done
        Second at which the decision took effect.
    variables
        Variables of the solver's model; 0 where no solver was asked.
    call_again_at
        Second for which the dispatcher asked for another round; None where it did not.
    """

    number: IntArray
    now: IntArray
    done: IntArray
    queued: IntArray
    running: IntArray
    started: IntArray
    rejected: IntArray
    waiting: IntArray
    decision_time: list[float]
    variables: list[int]
    call_again_at: list[int | None]

    def rejected_at(self, refused: int) -> IntArray:
        """Return the round, from 0, that rejected each of `refused` jobs, in order of their rows.

        Rows are in the order in which jobs left, so that the first rejected ones belong to the
        first round that rejected some. Jobs beyond the counts of the rounds get the number of
        rounds.
        """
        return np.searchsorted(np.cumsum(self.rejected), np.arange(refused), side="right")


@dataclass(frozen=True, slots=True)
class Happenings:
    """Instants of events apart from rounds, ascending, in seconds.

    Attributes
    ----------
    arrivals
        Entries into the queue, those of requeued jobs included.
    events
        All submissions and ends, each once.
    """

    arrivals: IntArray
    events: IntArray
    ends: IntArray
    instant: IntArray


def read_rounds(run: RunDirectory) -> RoundColumns:
    """Read the rows of `rounds.parquet`."""
    names = ("round", "now", "latency", "queued", "running", "started", "rejected", "waiting")
    table = run.rounds.read(*names, "decision_time", "solver", "call_again_at")
    column = {name: table[name].to_numpy() for name in names}
    calls = table["solver"].to_pylist()
    return RoundColumns(
        column["round"],
        column["now"],
        column["now"] + column["latency"],
        column["queued"],
        column["running"],
        column["started"],
        column["rejected"],
        column["waiting"],
        decision_time=table["decision_time"].to_pylist(),
        variables=[0 if call is None else call["variables"] for call in calls],
        call_again_at=table["call_again_at"].to_pylist(),
    )


def happenings(trace: TraceColumns, run: RunColumns, lost: LostColumns) -> Happenings:
    """Return the events of the jobs of a trace; `run` has a row for each job that has left."""
    # A job that was refused at submission never enters the queue.
    refused = (run.state == "rejected") & ~np.isin(run.rejected_by, ("", "dispatcher"))
    queued = ~np.isin(trace.job_id, run.job_id[refused])
    again = lost.requeued
    start = np.concatenate((run.start_time[run.ran], lost.start_time[again]))
    end = np.concatenate((run.end_time[run.ran], lost.end_time[again]))
    return Happenings(
        arrivals=np.sort(np.concatenate((trace.submit_time[queued], lost.end_time[again]))),
        events=np.unique(np.concatenate((trace.submit_time, end))),
        ends=np.sort(end[end > start]),
        instant=np.sort(start[end == start]),
    )


def check_round_rows(
    run: RunColumns,
    rounds: RoundColumns,
    happened: Happenings,
    conditions: "Conditions",
    charge: Charge | None,
    *,
    partial: bool,
) -> Check:
    """Check instants of rounds, their latency, and the numbers of jobs in them.

    Between two rounds the queue grows by arrivals; in a round it shrinks by starts and rejections.
    A round is held at every instant at which a job arrives or ends while others wait, and possibly
    at other instants that `conditions` name.

    Parameters
    ----------
    charge
        Declared dispatch latency; None if decisions take no simulated time.
    """
    check = Check("rounds are held when something happens, and meet the jobs that are there")
    count = len(rounds.now)
    check.looked_at = count
    left = np.cumsum(rounds.started + rounds.rejected)
    before = np.concatenate(([0], left))[:-1]
    arrived = np.searchsorted(happened.arrivals, rounds.now, side="right")
    met = np.searchsorted(happened.arrivals, rounds.done, side="right")
    _expect(check, "round", rounds, np.arange(1, count + 1), rounds.number)
    _expect(check, "queued", rounds, arrived - before, rounds.queued)
    _expect(check, "waiting", rounds, met - left, rounds.waiting)
    _check_running(check, rounds, happened)
    _check_instants(check, rounds, happened, conditions, partial=partial)
    _check_latency(check, rounds, conditions, charge)
    _check_order(check, run, rounds)
    return check


def _expect(check: Check, name: str, rounds: RoundColumns, expected: Any, found: Any) -> None:
    """Count a violation for each round in which a column differs from its expected values."""
    check.found_at(
        np.flatnonzero(expected != found),
        lambda k: (
            f"round {k + 1}, second {rounds.now[k]}: {name}: expected {expected[k]}, found"
            f" {found[k]}"
        ),
    )


def _check_running(check: Check, rounds: RoundColumns, happened: Happenings) -> None:
    """Check the number of running jobs before each round.

    The round that started a zero-length job is not recorded where an instant has several: then
    there are two bounds.
    """
    before = np.concatenate(([0], np.cumsum(rounds.started)))[:-1]
    ended = np.searchsorted(happened.ends, rounds.now, side="right")
    earlier = np.searchsorted(happened.instant, rounds.now)
    upto = np.searchsorted(happened.instant, rounds.now, side="right")
    # Those that rounds of the same instant had started before.
    first = np.searchsorted(rounds.done, rounds.now)
    at_once = before - before[np.minimum(first, np.arange(len(before)))]
    most = before - ended - earlier
    least = most - np.minimum(upto - earlier, at_once)
    check.found_at(
        np.flatnonzero((rounds.running < least) | (rounds.running > most)),
        lambda k: (
            f"round {k + 1}, second {rounds.now[k]}: running: expected {least[k]} to {most[k]},"
            f" found {rounds.running[k]}"
        ),
    )


@dataclass(frozen=True, slots=True)
class Conditions:
    """Causes of rounds beside arrivals and ends.

    Attributes
    ----------
    hold_back
        True if jobs may be hidden from a dispatcher, so that the number it was shown is unknown,
        and a round may be held when they are released.
    instants
        Other seconds at which a round may be held.
    system
        The declared system, whose shared resources change at further instants.
    """

    hold_back: bool
    instants: frozenset[int]
    system: System

    def may_be_at(self, time: int) -> bool:
        """Return True if a round may be held at `time` without an arrival or an end."""
        return time in self.instants or any(
            (time - change.at) % resource.every == 0 if resource.every else time == change.at
            for resource in self.system.shared_resources
            for change in resource.changes
        )

    @property
    def any(self) -> bool:
        """True if there are causes beside arrivals and ends."""
        return self.hold_back or bool(self.instants) or bool(self.system.shared_resources)


def conditions_of(
    trace: TraceColumns,
    run: RunColumns,
    rounds: RoundColumns,
    system: System,
    *,
    partitions: Partitions,
    outages: Outages,
    due: DueTimes | None = None,
    planned: bool = False,
) -> Conditions:
    """Return the causes of rounds of a run: dependencies, outages, limits and shared resources.

    Parameters
    ----------
    due
        Recorded starts, if the dispatcher follows them.
    planned
        True if the whole trace was planned at once: a round may be held wherever a job starts.
    """
    instants = {time for outage in outages.all for time in (outage.start, outage.end)}
    waits = any(trace.after)
    if waits:
        left = {time for time, _ in _leaving(run, rounds)}
        instants |= {time + think for time in left for think in set(trace.think_time.tolist())}
    if due is not None:
        instants |= set(due.at.tolist())
    if planned:
        instants |= set(run.start_time[run.ran].tolist())
    limits = any(partition.limits_users for partition in partitions)
    hold_back = waits or limits or bool(outages.all) or due is not None
    return Conditions(hold_back, frozenset(instants), system)


def _check_instants(
    check: Check,
    rounds: RoundColumns,
    happened: Happenings,
    conditions: Conditions,
    *,
    partial: bool,
) -> None:
    """Check that each round is held at the first instant after the one before that calls for it."""
    events, arrivals = happened.events.tolist(), happened.arrivals.tolist()
    without_length = set(happened.instant.tolist())
    asked, done, waiting = rounds.now.tolist(), rounds.done.tolist(), rounds.waiting.tolist()
    times = [-1, *done]
    for k, now in enumerate([*asked, None]):
        since = times[k]
        left = waiting[k - 1] if k else 0
        # With an empty queue an end alone calls for no round.
        among = events if left else arrivals
        later = bisect_right(among, since)
        due = among[later] if later < len(among) else None
        again = rounds.call_again_at[k - 1] if left else None
        if again is not None:
            due = again if due is None else min(due, again)
        may, sooner = {due}, False
        if left:
            flown = bisect_right(events, since) > bisect_right(events, asked[k - 1])
            # A round for a time before the decision took effect is held when it has.
            flown = flown or (again is not None and again <= since)
            # A job without length ends at once, in the last of several rounds of an instant maybe.
            many = k > 1 and done[k - 2] == since
            if flown or (since in without_length and not many):
                may = {since}
            else:
                sooner = now is not None and since < now and (due is None or now < due)
                if conditions.any or since in without_length:
                    may.add(since)
        if now in may or (now is None and partial) or (sooner and conditions.may_be_at(now)):
            continue
        check.found(
            f"round {k + 1}: expected at {_seconds(may)}, found"
            f" {'none' if now is None else f'at second {now}'}"
        )


def _seconds(instants: set[int | None]) -> str:
    """Name instants in a message."""
    known = sorted(time for time in instants if time is not None)
    return f"second {' or '.join(map(str, known))}" if known else "no second"


def _check_latency(
    check: Check, rounds: RoundColumns, conditions: Conditions, charge: Charge | None
) -> None:
    """Check the latency of each round exactly, in fractions of seconds."""
    latency = rounds.done - rounds.now
    if charge is None:
        _expect(check, "latency", rounds, np.zeros_like(latency), latency)
        return
    if conditions.hold_back and charge.per_queued_job:
        check.notes.append(
            "latencies were not worked out again: how many jobs were held back is not recorded"
        )
        return
    carried, expected = Fraction(0), []
    for queued, variables, seconds in zip(
        rounds.queued.tolist(), rounds.variables, rounds.decision_time, strict=True
    ):
        # A dispatcher that is shown nothing is not asked, and takes no time at all.
        if seconds or not conditions.hold_back:
            carried += charge.base + charge.per_queued_job * queued
            carried += charge.per_variable * variables + charge.measured * Fraction(seconds)
        # Fractions of a second carry over to the next round, so that none is lost.
        whole = int(carried)
        expected.append(whole)
        carried -= whole
    _expect(check, "latency", rounds, np.array(expected), latency)


def _leaving(run: RunColumns, rounds: RoundColumns) -> Iterator[tuple[int, int]]:
    """Yield the second at which the job of each row left, and its id, in the order of rows."""
    by_dispatcher = run.rejected_by == "dispatcher"
    at = rounds.rejected_at(int(by_dispatcher.sum())).tolist()
    rejecting = iter(at)
    for row in range(len(run.job_id)):
        if by_dispatcher[row]:
            k = next(rejecting)
            if k == len(rounds.done):
                continue
            time = int(rounds.done[k])
        else:
            time = int(run.end_time[row] if run.ran[row] else run.submit_time[row])
        yield time, int(run.job_id[row])


def _check_order(check: Check, run: RunColumns, rounds: RoundColumns) -> None:
    """Check that rows of jobs are in the order in which jobs left."""
    last = None
    for time, job_id in _leaving(run, rounds):
        if last is not None and time < last:
            check.found(
                f"job {job_id}: expected its row in order of leaving, found it left at {time},"
                f" after {last}"
            )
        last = time


def check_choices(run: RunDirectory, portfolio: Sequence[str]) -> Iterator[Check]:
    """Yield a check of the columns `chosen` and `because`, if any round states a choice.

    Parameters
    ----------
    portfolio
        Names of the dispatchers to choose from; empty for a dispatcher that does not choose. The
        first round must state a choice; an empty cell means the choice of the round before.
    """
    table = run.rounds.read("round", "chosen", "because")
    chosen, because = table["chosen"].to_pylist(), table["because"].to_pylist()
    # A run of a dispatcher that does not choose must not state choices either.
    if not portfolio and not any(chosen) and not any(because):
        return
    check = Check("each chosen dispatcher is in the portfolio, and differs from the one before")
    present: str | None = None
    for k, (name, why) in enumerate(zip(chosen, because, strict=True), start=1):
        check.looked_at += 1
        if (name is None) != (why is None):
            check.found(f"round {k}: expected a choice with a reason, found {name!r}, {why!r}")
        if name is None and k == 1 and portfolio:
            check.found("round 1: chosen: expected a choice, found none")
        if name is not None:
            if name == present or name not in portfolio:
                others = ", ".join(repr(other) for other in portfolio if other != present)
                expected = f"one of {others}" if others else "none"
                check.found(f"round {k}: chosen: expected {expected}, found {name!r}")
            present = name
    yield check


def check_call_again(
    rounds: RoundColumns, *, allowed: bool, interval: int | None, exact: bool
) -> Iterator[Check]:
    """Yield a check of the column `call_again_at`, if any round has or should have a value.

    Parameters
    ----------
    allowed
        True if the dispatcher may ask for rounds.
    interval
        Seconds between two rounds of a backfill scheduler, for the next of which all others ask
        while jobs wait; None without one.
    exact
        True if all queued jobs are shown to the dispatcher and its starts are carried out at once,
        so that rounds of the backfill scheduler are known.
    """
    if not allowed and not any(again is not None for again in rounds.call_again_at):
        return
    check = Check("rounds that the dispatcher asked for are at times that it may ask for")
    backfilled: list[int] = []
    for k, (now, again) in enumerate(
        zip(rounds.now.tolist(), rounds.call_again_at, strict=True), start=1
    ):
        check.looked_at += 1
        due = [time + interval for time in backfilled if interval and time + interval > now]
        if not allowed and again is not None:
            check.found(f"round {k}: call_again_at: expected none, found {again}")
        elif again is not None and again <= now:
            check.found(f"round {k}: call_again_at: expected a time after {now}, found {again}")
        elif interval is not None:
            all_start = exact and rounds.started[k - 1] == rounds.queued[k - 1]
            expected = due[-1] if due and exact and not all_start else None
            if again != expected if exact else again is not None and again not in due:
                asked = expected if exact else due
                check.found(f"round {k}: call_again_at: expected {asked}, found {again}")
            if again is None and not all_start:
                backfilled.append(now)
    yield check
