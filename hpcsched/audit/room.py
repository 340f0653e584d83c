"""Check of the amounts of each round: waiting, free, and lost between rounds."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.audit.columns import Amounts, RunColumns, sums_upto
from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.summary import allocated_amounts
from hpcsched.audit.violations import TOLERANCE, Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.system.outages import DownTime
from hpcsched.system.system import IntArray, System

LARGEST = 2**63 - 1
"""Largest amount that a column of the file can hold; larger ones are cut to it."""


def check_room(
    run: RunDirectory,
    rounds: RoundColumns,
    attempts: RunColumns,
    system: System,
    down: DownTime,
    *,
    partial: bool,
) -> Check:
    """Check the amounts that waited, were free and were lost in each round, by resource type.

    The round that started a job is not recorded where an instant has several: then there are two
    bounds. Amounts of a partial run are not checked, since the jobs that were left are not
    recorded.
    """
    check = Check("waiting and free amounts after each round follow from the jobs")
    if partial:
        check.notes.append("amounts of rounds were not worked out again: jobs were left")
        return check
    check.looked_at = len(rounds.now)
    if not len(rounds.now):
        return check
    timeline = _timeline(attempts, rounds, system, down)
    for r, name in enumerate(system.resource_types):
        columns = [f"{what}_amounts.{name}" for what in ("waiting", "free", "lost")]
        waiting, free, lost = (
            np.concatenate(parts) for parts in zip(*run.rounds.batches(*columns), strict=True)
        )
        allocated, asked = timeline.allocated[:, r], timeline.asked[:, r]
        least, most = _waiting(timeline, rounds, asked)
        _within(check, f"waiting_amounts.{name}", rounds, (least, most), waiting)
        # The bounds exclude amounts on nodes that are out of service.
        total = int(system.totals[r])
        least, most = _free(timeline, rounds, allocated, total - timeline.down[:, r])
        _within(check, f"free_amounts.{name}", rounds, (least, most), free)
        amounts = asked, allocated, system.capacity[:, r]
        expected = _lost(timeline, rounds, amounts, down)
        close = np.isclose(expected, lost, rtol=TOLERANCE, atol=0)
        expected = np.where(close, lost, expected)
        _within(check, f"lost_amounts.{name}", rounds, (expected, expected), lost)
    return check


class _Timeline(NamedTuple):
    """Attempts and rounds of a run."""

    since: IntArray
    start: IntArray
    end: IntArray
    ran: npt.NDArray[np.bool_]
    queued: npt.NDArray[np.bool_]
    rejected: IntArray
    asked: Amounts
    allocated: Amounts
    down: Amounts
    last: npt.NDArray[np.bool_]
    alone: npt.NDArray[np.bool_]


def _timeline(run: RunColumns, rounds: RoundColumns, system: System, down: DownTime) -> _Timeline:
    """Build the timeline of a run."""
    since = run.submit_time.copy()
    # The k-th attempt of a job waits from when the one before was lost.
    order = np.lexsort((np.where(run.ran, run.start_time, LARGEST), run.job_id))
    same = run.job_id[order][1:] == run.job_id[order][:-1]
    since[order[1:][same]] = run.end_time[order[:-1][same]]
    by_dispatcher = run.rejected_by == "dispatcher"
    rejected = np.full(len(run.job_id), len(rounds.now))
    rejected[by_dispatcher] = rounds.rejected_at(int(by_dispatcher.sum()))
    # Half of 64 bits leaves room for a difference; beyond, Python integers take over.
    asked: Amounts = run.units[:, np.newaxis] * run.unit_request
    if np.sum(asked, dtype=np.float64) > LARGEST / 2:
        asked = asked.astype(object)
    gone = np.zeros((len(rounds.now), len(system.resource_types)), dtype=np.int64)
    for node, start, end in zip(*(column.tolist() for column in down), strict=True):
        gone[(rounds.done >= start) & (rounds.done < end)] += system.capacity[node]
    same_before = np.concatenate(([False], rounds.done[1:] == rounds.done[:-1]))
    same_after = np.concatenate((same_before[1:], [False]))
    return _Timeline(
        since,
        run.start_time,
        run.end_time,
        run.ran,
        run.ran | by_dispatcher,
        rejected,
        asked,
        allocated_amounts(run, system),
        gone,
        ~same_after,
        ~same_after & ~same_before,
    )


def _waiting(line: _Timeline, rounds: RoundColumns, asked: Amounts) -> tuple[Amounts, Amounts]:
    """Return the least and the largest amount that may wait after each round."""
    queued, ran = line.queued, line.ran
    came = sums_upto(line.since[queued], asked[queued], rounds.done)
    refused = sums_upto(line.rejected, asked, np.arange(len(rounds.now)))
    least = came - refused - sums_upto(line.start[ran], asked[ran], rounds.done)
    before = came - refused - sums_upto(line.start[ran], asked[ran], rounds.done, "left")
    most = np.where(line.last, least, before)
    return np.minimum(least, LARGEST), np.minimum(most, LARGEST)


def _free(
    line: _Timeline, rounds: RoundColumns, allocated: Amounts, total: Amounts
) -> tuple[Amounts, Amounts]:
    """Return the least and the largest amount that may be free after each round.

    A zero-length job holds its amounts until the round is over.
    """
    lasting = line.ran & (line.end > line.start)
    ended = sums_upto(line.end[lasting], allocated[lasting], rounds.done)
    before = sums_upto(line.start[lasting], allocated[lasting], rounds.done, "left") - ended
    after = sums_upto(line.start[lasting], allocated[lasting], rounds.done) - ended
    brief = line.ran & ~lasting
    at_once = sums_upto(line.start[brief], allocated[brief], rounds.done)
    at_once = at_once - sums_upto(line.start[brief], allocated[brief], rounds.done, "left")
    most_allocated = after + at_once
    least_allocated = np.where(line.alone, most_allocated, np.where(line.last, after, before))
    return total - most_allocated, total - least_allocated


def _lost(
    line: _Timeline,
    rounds: RoundColumns,
    amounts: tuple[Amounts, Amounts, IntArray],
    down: DownTime,
) -> npt.NDArray[np.float64]:
    """Return ∫ min(amount waited for, amount free) dt while each decision was awaited, `[K]`."""
    asked, allocated, capacity = amounts
    queued, ran = line.queued, line.ran
    rejected = line.rejected < len(rounds.now)
    refused_at = rounds.done[line.rejected[rejected]]
    moments = (line.since[queued], line.start[ran], line.end[ran], refused_at, down.start, down.end)
    instants = np.unique(np.concatenate((*moments, rounds.now, rounds.done)))
    waits = sums_upto(line.since[queued], asked[queued], instants)
    waits = waits - sums_upto(line.start[ran], asked[ran], instants)
    waits = waits - sums_upto(refused_at, asked[rejected], instants)
    busy = sums_upto(line.start[ran], allocated[ran], instants) - sums_upto(
        line.end[ran], allocated[ran], instants
    )
    gone = capacity[down.node]
    busy = busy + sums_upto(down.start, gone, instants) - sums_upto(down.end, gone, instants)
    idle = np.minimum(waits, int(capacity.sum()) - busy)[:-1] * np.diff(instants)
    sums = np.concatenate(([0], np.cumsum(idle)))
    begin = np.searchsorted(instants, rounds.now)
    end = np.searchsorted(instants, rounds.done)
    return np.asarray(sums[end] - sums[begin], dtype=np.float64)


def _within(
    check: Check, name: str, rounds: RoundColumns, bounds: tuple[Amounts, Amounts], found: Amounts
) -> None:
    """Count a violation for each round with an amount outside its bounds."""
    least, most = bounds
    check.found_at(
        np.flatnonzero(~((found >= least) & (found <= most))),
        lambda k: (
            f"round {k + 1}, second {rounds.now[k]}: {name}: expected {least[k]}"
            f"{'' if least[k] == most[k] else f' to {most[k]}'}, found {found[k]}"
        ),
    )
