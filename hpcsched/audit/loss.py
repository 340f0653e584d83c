"""Loss of capacity, from the jobs alone, without the rounds."""

import numpy as np

from hpcsched.audit.columns import RunColumns
from hpcsched.system.outages import DownTime
from hpcsched.system.system import IntArray, System


def lost_amounts(
    run: RunColumns, system: System, *, rejected_wait: bool, down: DownTime | None
) -> list[float]:
    """Return ∫ min(amount waited for, amount free) dt of each resource type, in amount × seconds.

    The instant at which a dispatcher rejected a job is not recorded, so that there are two bounds.
    A job that was rejected at submission never waits. Attempts that were lost to outages are rows
    with the state `requeued`: their jobs wait again from then on.

    Parameters
    ----------
    rejected_wait
        True: a job that the dispatcher rejected waits from its submission to the last instant of
        the run. False: it does not wait.
    down
        Intervals in which nodes are not free; None without outages.
    """
    ran = run.ran
    again = run.state == "requeued"
    waits = ran | (run.rejected_by == "dispatcher") if rejected_wait else ran
    waits = waits & ~again
    allocated = allocated_amounts(run, system)
    of_outages = () if down is None else (down.start, down.end)
    of_jobs = (run.submit_time[waits], run.start_time[ran], run.end_time[ran])
    # One sorted axis of all instants; `at` maps every event to it.
    instants, at = np.unique(np.concatenate((*of_jobs, *of_outages)), return_inverse=True)
    submitted = at[: waits.sum()]
    started = at[waits.sum() : waits.sum() + ran.sum()]
    ended = at[waits.sum() + ran.sum() : waits.sum() + 2 * ran.sum()]
    closed, opened = np.split(at[waits.sum() + 2 * ran.sum() :], 2)
    requeued = ended[again[ran]]
    lost: list[float] = []
    for r, total in enumerate(system.capacity.sum(axis=0).tolist()):
        asked = run.units * run.unit_request[:, r]
        waiting = _level(
            len(instants),
            (submitted, asked[waits]),
            (started, -asked[ran]),
            (requeued, asked[again]),
        )
        busy = _level(len(instants), (started, allocated[ran, r]), (ended, -allocated[ran, r]))
        if down is not None:
            gone = system.capacity[down.node, r]
            busy += _level(len(instants), (closed, gone), (opened, -gone))
        idle = np.minimum(waiting, total - busy)[:-1].astype(np.float64)
        lost.append(float(np.sum(idle * np.diff(instants))))
    return lost


def allocated_amounts(run: RunColumns, system: System) -> IntArray:
    """Return the amounts that each job holds while it runs, `[J, R]`.

    An exclusive job holds its nodes whole.
    """
    allocated = run.units[:, np.newaxis] * run.unit_request
    row = run.place_row
    exists = (run.node >= 0) & (run.node < system.node_count)
    whole = np.zeros_like(allocated)
    np.add.at(whole, row[exists], system.capacity[run.node[exists]])
    return np.where(run.flags["exclusive"][:, np.newaxis], whole, allocated)


def _level(count: int, *changes: tuple[IntArray, IntArray]) -> IntArray:
    """Return the sum of all changes up to and including each instant, `[count]`."""
    change = np.zeros(count, dtype=np.int64)
    for at, amount in changes:
        np.add.at(change, at, amount)
    return np.cumsum(change)
