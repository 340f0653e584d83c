"""Queue orders of a replay that are computed in Python before each round."""

from collections.abc import Sequence

import numpy as np

from hpcsched._core import corrected_end
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Choices, Shapes, Tables
from hpcsched.dispatching.problem import RunningJob
from hpcsched.dispatching.rules.multifactor import Moment, MultifactorOrder
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.simulation.replay_events import ReplayEvents
from hpcsched.system.system import IntArray

IN_PYTHON = (MultifactorOrder,)
"""Orders that are computed in Python."""


class ReplayOrders:
    """Orders of the queue and behind the head job, as far as Python computes them."""

    def __init__(
        self, orders: Sequence[QueueOrder], choices: Choices, events: ReplayEvents
    ) -> None:
        self._orders, self._choices, self._events = orders, choices, events

    def sort(self, tables: Tables, shapes: Shapes, *, by_node: bool) -> None:
        """Sort the jobs that a rule is shown; all events so far have been read."""
        counters, jobs = tables.counters, tables.jobs
        counters[codes.ORDERED] = 1
        count = int(counters[codes.QUEUED])
        rows = tables.queue[:count]
        shown = rows[jobs[rows, codes.HELD] == 0]
        free = counters[codes.FREE_SLOTS]
        if by_node:
            free = shapes.fitting[jobs[shown, codes.SHAPE]]
        # Where none fits, none starts in any order; the head job may be promised a start still.
        promises = self._choices.rule in codes.PROMISING
        if not promises and not (jobs[shown, codes.UNITS] <= free).any():
            return
        in_turn = shown[np.argsort(jobs[shown, codes.SEQUENCE])]
        waiting = self._events.waiting(jobs[in_turn, codes.SEQUENCE].tolist())
        now = int(counters[codes.NOW])
        moment = Moment(now, waiting, self._running(now, tables))
        row_of = {job.job_id: row for job, row in zip(waiting, in_turn.tolist(), strict=True)}
        for order, queue in zip(self._orders, (tables.queue, tables.behind), strict=True):
            if isinstance(order, IN_PYTHON):
                held = queue[:count][jobs[queue[:count], codes.HELD] != 0]
                queue[: len(shown)] = [row_of[job.job_id] for job in order.sort(moment)]
                queue[len(shown) : count] = held

    def _running(self, now: int, tables: Tables) -> Sequence[RunningJob]:
        """Return the running jobs as dispatchers are shown them, by estimated end."""
        jobs, correction = tables.jobs, self._choices.correction
        rows = tables.running[: tables.counters[codes.RUNNING]].tolist()
        ends: IntArray = np.array([jobs[row, codes.SHOWN_END] for row in rows], dtype=np.int64)
        for k, row in enumerate(rows):
            if jobs[row, codes.PLANNED_END] > now:
                break
            ends[k] = corrected_end(jobs[row], now, correction)
        in_turn = np.array(rows, dtype=np.int64)[np.argsort(ends, kind="stable")]
        return self._events.running(jobs[in_turn, codes.SEQUENCE].tolist())
