"""Loss of capacity from the jobs alone, without the rounds."""

import numpy as np

from hpcsched.results.audit.columns import RunColumns
from hpcsched.system.system import IntArray, System


def lost_amounts(run: RunColumns, system: System, *, rejected_wait: bool) -> list[float]:
    """Return ∫ min(amount waited for, amount free) dt of each resource type, in amount × seconds.

    When a dispatcher rejected a job is not recorded. With `rejected_wait` it is taken to wait from
    its submission to the last instant of the run, otherwise not at all; the truth lies between.
    What was rejected at submission never waits.
    """
    ran = run.ran
    waits = ran | (run.rejected_by == "dispatcher") if rejected_wait else ran
    held = _held(run, system)
    times = np.concatenate((run.submit_time[waits], run.start_time[ran], run.end_time[ran]))
    instants, at = np.unique(times, return_inverse=True)
    submitted = at[: waits.sum()]
    started = at[waits.sum() : waits.sum() + ran.sum()]
    ended = at[waits.sum() + ran.sum() :]
    lost: list[float] = []
    for r, total in enumerate(system.capacity.sum(axis=0).tolist()):
        asked = run.units * run.unit_request[:, r]
        waiting = _level(len(instants), (submitted, asked[waits]), (started, -asked[ran]))
        busy = _level(len(instants), (started, held[ran, r]), (ended, -held[ran, r]))
        idle = np.minimum(waiting, total - busy)[:-1].astype(np.float64)
        lost.append(float(np.sum(idle * np.diff(instants))))
    return lost


def _held(run: RunColumns, system: System) -> IntArray:
    """Return what each job holds while it runs, `[J, R]`: all of its nodes, if it is exclusive."""
    held = run.units[:, np.newaxis] * run.unit_request
    row = run.place_row
    exists = (run.node >= 0) & (run.node < system.node_count)
    whole = np.zeros_like(held)
    np.add.at(whole, row[exists], system.capacity[run.node[exists]])
    return np.where(run.exclusive[:, np.newaxis], whole, held)


def _level(count: int, *changes: tuple[IntArray, IntArray]) -> IntArray:
    """Return the sum of all changes up to and including each instant, `[count]`."""
    change = np.zeros(count, dtype=np.int64)
    for at, amount in changes:
        np.add.at(change, at, amount)
    return np.cumsum(change)
