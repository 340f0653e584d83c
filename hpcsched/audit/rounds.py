"""Checks of `rounds.parquet`: instants, numbers of jobs, latency, choices, requested rounds."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from hpcsched.audit.columns import LARGEST, Amounts, AuditedRun, RoundColumns, sums_upto
from hpcsched.audit.violations import TOLERANCE, BoolArray, Check, rule
from hpcsched.system.system import IntArray, System

_ROUND = "round {}, second {}: {}"
"""Name of a row and a column in messages."""


@dataclass(frozen=True, slots=True)
class Happenings:
    """Instants of events apart from rounds, ascending, in seconds.

    Attributes
    ----------
    arrivals
        Entries into the queue, those of requeued jobs included.
    events
        All submissions, ends and withdrawals, each once.
    ends
        Ends of attempts that had a length.
    instant
        Starts of those that had none.
    preempted, requeued
        Ends of attempts that were preempted, and of those that were requeued. They may have come
        before or within a round of that instant.
    withdrawn
        Withdrawals of waiting jobs, before the round of that instant.
    """

    arrivals: IntArray
    events: IntArray
    ends: IntArray
    instant: IntArray
    preempted: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    requeued: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    withdrawn: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def in_round(self, of: IntArray, rounds: IntArray) -> IntArray:
        """Return how many of some times are the instant of each round."""
        return np.searchsorted(of, rounds, side="right") - np.searchsorted(of, rounds)


def happenings(at: AuditedRun) -> Happenings:
    """Return the events of the jobs of a trace."""
    run, lost, again, submits = at.jobs, at.lost, at.lost.requeued, at.trace.submit_time
    # A job that was refused at submission never enters the queue.
    refused = (run.state == "rejected") & (run.rejected_by != "") & ~run.dismissed
    queued = ~np.isin(at.trace.job_id, run.job_id[refused])
    start = np.concatenate((run.start_time[run.ran], lost.start_time[again]))
    end = np.concatenate((run.end_time[run.ran], lost.end_time[again]))
    withdrawn = np.sort(run.left_at[run.withdrawn])
    by = (lost.preempted_by >= 0) & ~lost.suspended & (lost.end_time > lost.start_time)
    return Happenings(
        preempted=np.sort(lost.end_time[by]),
        requeued=np.sort(lost.end_time[by & again]),
        arrivals=np.sort(np.concatenate((submits[queued], lost.end_time[again]))),
        withdrawn=withdrawn,
        events=np.unique(np.concatenate((submits, end, withdrawn))),
        ends=np.sort(end[end > start]),
        instant=np.sort(start[end == start]),
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
    at_any_time
        Whether jobs wait for limits of what running jobs may still take, which allow them at any
        second.
    system
        The declared system, whose shared resources change at further instants.
    """

    hold_back: bool
    instants: frozenset[int]
    system: System
    at_any_time: bool = False

    def may_be_at(self, time: int) -> bool:
        """Return True if a round may be held at `time` without an arrival or an end."""
        return (
            self.at_any_time
            or time in self.instants
            or any(
                (time - change.at) % resource.every == 0 if resource.every else time == change.at
                for resource in self.system.shared_resources
                for change in resource.changes
            )
        )

    @property
    def any(self) -> bool:
        """True if there are causes beside arrivals and ends."""
        return self.hold_back or bool(self.instants) or bool(self.system.shared_resources)


def conditions_of(at: AuditedRun) -> Conditions:
    """Return the causes of rounds of a run: dependencies, outages, limits and shared resources."""
    instants = {time for outage in at.outages.all for time in (outage.start, outage.end)}
    if any(at.trace.after):
        left = {time for time, _ in _leaving(at)}
        instants |= {time + think for time in left for think in set(at.trace.think_time.tolist())}
    delayed = at.trace.begin_delay > 0
    instants |= set((at.trace.submit_time + at.trace.begin_delay)[delayed].tolist())
    if at.due is not None:
        instants |= set(at.due.at.tolist())
    if at.declared.offline:
        # The whole trace was planned at once: a round may be held wherever a job starts.
        instants |= set(at.jobs.start_time[at.jobs.ran].tolist())
    may_repeat = at.holds_back or at.preemption is not None
    return Conditions(may_repeat, frozenset(instants), at.system, at.limits.any_running)


@rule()
def round_rows(check: Check, at: AuditedRun) -> None:
    """Check that rounds are held when something happens, and meet the jobs that are there."""
    check_round_rows(check, at, happenings(at), conditions_of(at))


def check_round_rows(
    check: Check, at: AuditedRun, happened: Happenings, conditions: Conditions
) -> None:
    """Check rounds against the starts and ends of jobs.

    Between two rounds the queue grows by arrivals and shrinks by withdrawals; in a round it shrinks
    by starts and rejections. A round is held at every instant at which a job arrives, ends or is
    withdrawn while jobs wait, or waited so far, and possibly
    at other instants that `conditions` name.
    """
    rounds = at.rounds
    check.looked_at = count = len(rounds.now)
    left = np.cumsum(rounds.started + rounds.rejected)
    before = np.concatenate(([0], left))[:-1]
    arrived = np.searchsorted(happened.arrivals, rounds.now, side="right")
    met = np.searchsorted(happened.arrivals, rounds.done, side="right")
    where = np.arange(1, count + 1), rounds.now
    check.differ(_ROUND, where[0], rounds.round, *where, "round")
    more = happened.in_round(happened.requeued, rounds.now)
    queued = arrived - before - np.searchsorted(happened.withdrawn, rounds.now, side="right")
    waiting = met - left - np.searchsorted(happened.withdrawn, rounds.done, side="right")
    _expect_within(check, "queued", rounds, (queued - more, queued), rounds.queued)
    again = np.append(rounds.done[1:] == rounds.done[:-1], False)[:count]
    least = waiting - np.where(again, more, 0)
    _expect_within(check, "waiting", rounds, (least, waiting), rounds.waiting)
    _check_running(check, rounds, happened)
    _check_instants(check, at, happened, conditions)
    _check_latency(check, at, conditions)
    last = None
    for time, job_id in _leaving(at):
        if last is not None and time < last:
            message = "expected its row in order of leaving, found it left at"
            check.found(f"job {job_id}: {message} {time}, after {last}")
        last = time


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
    most = most + happened.in_round(happened.preempted, rounds.now)
    _expect_within(check, "running", rounds, (least, most), rounds.running)


def _expect_within(
    check: Check, name: str, rounds: RoundColumns, bounds: tuple[Amounts, Amounts], found: Amounts
) -> None:
    """Count a violation for each round with an amount outside its bounds."""
    low, high = bounds

    def expected(k: int) -> str:
        return str(low[k]) if low[k] == high[k] else f"{low[k]} to {high[k]}"

    where = np.arange(1, len(found) + 1), rounds.now
    message = f"{_ROUND}: expected {{}}, found {{}}"
    check.found_at(~((found >= low) & (found <= high)), message, *where, name, expected, found)


def _check_instants(
    check: Check, at: AuditedRun, happened: Happenings, conditions: Conditions
) -> None:
    """Check that each round is held at the first instant after the one before that calls for it."""
    rounds = at.rounds
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
        if now in may or (now is None and at.partial) or (sooner and conditions.may_be_at(now)):
            continue
        known = " or ".join(map(str, sorted(time for time in may if time is not None)))
        expected = f"second {known}" if known else "no second"
        found = "none" if now is None else f"at second {now}"
        check.found(f"round {k + 1}: expected at {expected}, found {found}")


def _check_latency(check: Check, at: AuditedRun, conditions: Conditions) -> None:
    """Check the latency of each round exactly, in fractions of seconds."""
    rounds = at.rounds
    latency = rounds.done - rounds.now
    base, per_job, per_variable, measured = at.declared.charge or (Fraction(0),) * 4
    if conditions.hold_back and per_job:
        check.notes.append(
            "latencies were not worked out again: how many jobs were held back is not recorded"
        )
        return
    carried, expected = Fraction(0), np.zeros_like(latency)
    of_rounds = rounds.queued.tolist(), rounds.variables, rounds.decision_time.tolist()
    charged = zip(*of_rounds, strict=True) if at.declared.charge else ()
    for k, (queued, variables, seconds) in enumerate(charged):
        # A dispatcher that is shown nothing is not asked, and takes no time at all.
        if seconds or not conditions.hold_back:
            carried += base + per_job * queued
            carried += per_variable * variables + measured * Fraction(seconds)
        # Fractions of a second carry over to the next round, so that none is lost.
        expected[k] = int(carried)
        carried -= int(carried)
    where = np.arange(1, len(latency) + 1), rounds.now
    check.differ(_ROUND, expected, latency, *where, "latency")


def _leaving(at: AuditedRun) -> Iterator[tuple[int, int]]:
    """Yield the second at which the job of each row left, and its id, in the order of rows."""
    run, rounds = at.jobs, at.rounds
    left = run.left_at
    by = np.flatnonzero(run.dismissed)
    k = rounds.rejected_at(len(by))
    known = np.ones(len(left), dtype=np.bool_)
    known[by] = k < len(rounds.done)
    left[by[known[by]]] = rounds.done[k[known[by]]]
    return zip(left[known].tolist(), run.job_id[known].tolist(), strict=True)


@rule(lambda at: at.declared.portfolio or any(map(any, _choices(at))))
def choices(check: Check, at: AuditedRun) -> None:
    """Check that each chosen dispatcher is in the portfolio, and differs from the one before.

    The columns are `chosen` and `because`.

    The first round of a dispatcher that chooses must state a choice; an empty cell means the choice
    of the round before. A run of another dispatcher must not state choices.
    """
    portfolio = at.declared.portfolio
    present: str | None = None
    for k, (name, why) in enumerate(_choices(at), start=1):
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


def _choices(at: AuditedRun) -> Iterator[tuple[str | None, str | None]]:
    """Yield choice and reason of each round."""
    table = at.run.rounds.read("chosen", "because")
    return zip(table["chosen"].to_pylist(), table["because"].to_pylist(), strict=True)


@rule(lambda at: at.declared.calls_again or set(at.rounds.call_again_at) - {None})
def requested_rounds(check: Check, at: AuditedRun) -> None:
    """Check that rounds that the dispatcher asked for are at times that it may ask for.

    The column is `call_again_at`.

    Of two rounds of a backfill scheduler, all others ask for the next while jobs wait. Its rounds
    are known if all queued jobs are shown to it and its starts are carried out at once.
    """
    rounds, interval = at.rounds, at.declared.backfill_interval
    exact = at.declared.charge is None and not at.holds_back
    backfilled: list[int] = []
    for k, (now, again) in enumerate(
        zip(rounds.now.tolist(), rounds.call_again_at, strict=True), start=1
    ):
        check.looked_at += 1
        due = [time + interval for time in backfilled if interval and time + interval > now]
        where = f"round {k}: call_again_at: expected"
        if not at.declared.calls_again and again is not None:
            check.found(f"{where} none, found {again}")
        elif again is not None and again <= now:
            check.found(f"{where} a time after {now}, found {again}")
        elif interval is not None:
            all_start = exact and rounds.started[k - 1] == rounds.queued[k - 1]
            expected = due[-1] if due and exact and not all_start else None
            if again != expected if exact else again is not None and again not in due:
                check.found(f"{where} {expected if exact else due}, found {again}")
            if again is None and not all_start:
                backfilled.append(now)


def _has_plain_queue(at: AuditedRun) -> bool:
    """Return True if the queue is by arrival, all of it is shown, and starts are at once."""
    special = at.holds_back or at.outages.all or at.preemption or at.jobs.dismissed.any()
    declared = at.declared
    plain = declared.by_arrival and declared.charge is None and not (declared.offline or special)
    return plain and not at.partial and bool((at.jobs.backfilled >= 0).any())


@rule(_has_plain_queue)
def backfilled(check: Check, at: AuditedRun) -> None:
    """Check that jobs are marked that started before one ahead of them in the queue.

    The column is `backfilled`, where jobs queue by arrival.

    Of rounds of the same instant is not recorded which started a job.
    """
    (rows, of), run, now = at.matched, at.jobs, at.rounds.now
    rows = rows[np.argsort(of)]
    start, ran = run.start_time[rows], run.ran[rows]
    check.looked_at = len(rows)
    ahead = np.concatenate(([-1], np.maximum.accumulate(np.where(ran, start, run.left_at[rows]))))[
        :-1
    ]
    expected = np.where(ran, ahead > start, -1)
    unknown = (ahead == start) & np.isin(start, now[1:][np.diff(now) == 0]) & ran
    found = np.where(unknown, 0, run.backfilled[rows])
    check.differ("job {}: backfilled", expected, found, run.job_id[rows])


@rule()
def amounts_of_rounds(check: Check, at: AuditedRun) -> None:
    """Check that waiting and free amounts after each round follow from the jobs.

    The round that started a job is not recorded where an instant has several: then there are two
    bounds. Amounts of a partial run are not checked, since the jobs that were left are not
    recorded.
    """
    if at.partial:
        check.notes.append("amounts of rounds were not worked out again: jobs were left")
        return
    check.looked_at = len(at.rounds.now)
    for what, (least, most) in (
        ("waiting_amounts", _waiting(at)),
        ("free_amounts", _free(at)),
        ("lost_amounts", (_lost(at),) * 2),
    ):
        for r, resource in enumerate(at.system.resource_types):
            name = f"{what}.{resource}"
            parts = [batch for (batch,) in at.run.rounds.batches(name)]
            found = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
            low, high = least[:, r], most[:, r]
            if what == "lost_amounts":
                close = np.isclose(low, found, rtol=TOLERANCE, atol=0)
                low = high = np.where(close, found, low)
            _expect_within(check, name, at.rounds, (low, high), found)


def _of_instant(rounds: RoundColumns) -> tuple[BoolArray, BoolArray]:
    """Return which rounds are the last of their instant, and which are the only one, `[K, 1]`."""
    again = rounds.done[1:] == rounds.done[:-1]
    last, first = np.append(~again, True), np.append(True, ~again)
    count = len(rounds.done)
    return last[:count, np.newaxis], (last & first)[:count, np.newaxis]


def _ending_now(at: AuditedRun, rows: BoolArray) -> Amounts:
    """Return the amounts of some rows of `lost` that end in the instant of each round, `[K, R]`."""
    amounts = (at.lost.units[:, np.newaxis] * at.lost.unit_request)[rows]
    ends, done = at.lost.end_time[rows], at.rounds.done
    return sums_upto(ends, amounts, done) - sums_upto(ends, amounts, done, "left")


def _waiting(at: AuditedRun) -> tuple[Amounts, Amounts]:
    """Return the least and the largest amounts that may wait after each round, `[K, R]`."""
    run, asked, ran, done = at.attempts, at.asked, at.attempts.ran, at.rounds.done
    by = run.dismissed
    queued = ran | by | run.withdrawn
    came = sums_upto(at.waiting_since[queued], asked[queued], done)
    refusing = at.rounds.rejected_at(int(by.sum()))
    came = came - sums_upto(refusing, asked[by], np.arange(len(done)))
    gone = run.withdrawn
    came = came - sums_upto(run.left_at[gone], asked[gone], done)
    least = came - sums_upto(run.start_time[ran], asked[ran], done)
    before = came - sums_upto(run.start_time[ran], asked[ran], done, "left")
    last = _of_instant(at.rounds)[0]
    most = np.where(last, least, before)
    again = at.lost.requeued & (at.lost.preempted_by >= 0)
    least = least - np.where(last, 0, _ending_now(at, again))
    return np.minimum(least, LARGEST), np.minimum(most, LARGEST)


def _free(at: AuditedRun) -> tuple[Amounts, Amounts]:
    """Return the least and the largest amounts that may be free after each round, `[K, R]`.

    A zero-length job holds its amounts until the round is over.
    """
    run, held, done, down = at.attempts, at.allocated, at.rounds.done, at.down
    lasting = run.ran & (run.end_time > run.start_time)
    brief = run.ran & ~lasting
    ended = sums_upto(run.end_time[lasting], held[lasting], done)
    before = sums_upto(run.start_time[lasting], held[lasting], done, "left") - ended
    after = sums_upto(run.start_time[lasting], held[lasting], done) - ended
    at_once = sums_upto(run.start_time[brief], held[brief], done)
    most = after + at_once - sums_upto(run.start_time[brief], held[brief], done, "left")
    last, alone = _of_instant(at.rounds)
    least = np.where(alone, most, np.where(last, after, before))
    lost = at.lost
    most = most + np.where(last, 0, _ending_now(at, lost.preempted_by >= 0))
    paused = sums_upto(lost.start_time, at.suspended_amounts, done)
    paused = paused - sums_upto(lost.end_time, at.suspended_amounts, done)
    # Rounds of one instant may be on either side of a suspension.
    here = sums_upto(lost.start_time, at.suspended_amounts, done)
    here = here - sums_upto(lost.start_time, at.suspended_amounts, done, "left")
    least, most = least - paused, most - paused + np.where(last, 0, here)
    gone = at.system.capacity[down.node]
    gone = sums_upto(down.start, gone, done) - sums_upto(down.end, gone, done)
    # Both bounds exclude amounts on nodes that are out of service.
    total = at.system.capacity.sum(axis=0) - gone
    return total - most, total - least


def _lost(at: AuditedRun) -> Amounts:
    """Return ∫ min(amount waited for, amount free) dt while each decision was awaited, `[K, R]`."""
    run, rounds, down = at.attempts, at.rounds, at.down
    queued = run.ran | run.dismissed
    ran, refusing = run.ran, rounds.rejected_at(int(run.dismissed.sum()))
    known = refusing < len(rounds.done)
    refused = rounds.done[refusing[known]]
    moments = (at.waiting_since[queued | run.withdrawn], run.start_time[ran], run.left_at, refused)
    instants = np.unique(np.concatenate((*moments, *down[1:], rounds.now, rounds.done)))
    dismissed = at.asked[run.dismissed][known]
    idle = at.idle_amounts(queued, instants, (refused, dismissed))[:-1]
    sums = np.cumsum(idle * np.diff(instants)[:, np.newaxis], axis=0)
    sums = np.concatenate((np.zeros((1, idle.shape[1]), dtype=idle.dtype), sums))
    begin, end = (np.searchsorted(instants, times) for times in (rounds.now, rounds.done))
    return np.asarray(sums[end] - sums[begin], dtype=np.float64)
