"""Queue orders of a replay that are computed in Python before each round."""

from collections.abc import Sequence

import numpy as np

from hpcsched._core import State
from hpcsched.dispatching.problem import RunningJob
from hpcsched.dispatching.rules.multifactor import Moment, MultifactorOrder
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.simulation.replay_events import ReplayEvents
from hpcsched.system.system import IntArray

IN_PYTHON = (MultifactorOrder,)
"""Orders that are computed in Python."""


def sorted_rows(
    orders: Sequence[QueueOrder | None], rows: IntArray, state: State, events: ReplayEvents
) -> list[list[int] | None]:
    """Return the rows of jobs in each order; None for None. All events so far have been read."""
    waiting = events.waiting(state.jobs("sequence", rows).tolist())
    moment = Moment(state.now, waiting, _running(state, events))
    row_of = {job.job_id: row for job, row in zip(waiting, rows.tolist(), strict=True)}
    found: list[list[int] | None] = []
    for order in orders:
        if order is None:
            found.append(None)
        else:
            assert isinstance(order, IN_PYTHON)
            found.append([row_of[job.job_id] for job in order.sort(moment)])
    return found


def _running(state: State, events: ReplayEvents) -> Sequence[RunningJob]:
    """Return the running jobs as dispatchers are shown them, by estimated end."""
    now, rows = state.now, state.running_rows
    ends = state.jobs("shown_end", rows)
    for k in np.flatnonzero(state.jobs("planned_end", rows) <= now).tolist():
        ends[k] = state.corrected_end(int(rows[k]))
    in_turn = rows[np.argsort(ends, kind="stable")]
    return events.running(state.jobs("sequence", in_turn).tolist())
