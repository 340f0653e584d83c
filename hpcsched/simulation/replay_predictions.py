"""Predictions and corrections of a replay: known beforehand, or asked for on the way.

Requested and real run times are known when jobs are read. Any other predictor is asked when the
event loop has come to a submission, after it has been told of the jobs that have ended, so that it
is called in order.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Batch, Output, Tables
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.errors import PluginError
from hpcsched.prediction.actual import Actual
from hpcsched.prediction.predictor_driver import PredictorDriver, corrected_run_time
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.column_checks import ColumnChecks
from hpcsched.simulation.order_keys import Considered, keys_of, set_key, unit_demands
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import KNOWN_CORRECTIONS
from hpcsched.system.system import IntArray
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError


class ReplayPredictions:
    """Predicted run times, and the sort keys of queue orders that follow from them.

    Parameters
    ----------
    parts
        Parts of the simulation.
    orders
        Orders of the queue and behind the head job.
    in_python
        True: corrections are asked for, and a failing plugin raises PluginError. False: it raises
        NeedsPythonError, so that it fails event by event, in time.
    """

    def __init__(
        self, parts: Parts, orders: tuple[QueueOrder, QueueOrder], *, in_python: bool
    ) -> None:
        self._parts, self._orders, self._in_python = parts, orders, in_python
        self._driver = PredictorDriver(parts.predictor, parts.predictor_name)
        self._asks = type(parts.predictor) not in (RequestedTime, Actual)
        # Of the jobs that were read and have not ended yet, by their place among all that were,
        # where a predictor or a correction is to be told of them.
        self._jobs: dict[int, Job] = {}
        self._first = 0
        self._unit_demands: list[int] = []
        # How many of the jobs that have left and are written down the predictor was told of.
        self._told = 0

    def run_times(self, columns: JobColumns) -> IntArray:
        """Return the run times of jobs in this simulation, `[B]`, in seconds."""
        if self._parts.kill_at_requested_time:
            return np.minimum(columns.run_time, columns.requested_time)
        return columns.run_time

    def known(self, columns: JobColumns) -> IntArray:
        """Return the predictions of a batch, `[B]`, in seconds; 0 where they come later."""
        if self._asks:
            return np.zeros(len(columns.job_id), dtype=np.int64)
        actual = type(self._parts.predictor) is Actual
        return np.maximum(self.run_times(columns) if actual else columns.requested_time, 1)

    def keys(self, columns: JobColumns, predicted: IntArray) -> tuple[IntArray, IntArray]:
        """Return the sort keys of a batch in both orders, `[B, K]`."""
        system = self._parts.system
        one, other = (keys_of(order, columns, predicted, system) for order in self._orders)
        return one, other

    @property
    def needs_jobs(self) -> bool:
        """True if a predictor or a correction is notified of jobs."""
        asks_corrections = type(self._parts.correction) not in KNOWN_CORRECTIONS
        return self._asks or self._in_python or asks_corrections

    def begin(self, columns: JobColumns, jobs: Sequence[TracedJob], counters: IntArray) -> None:
        """Begin the next batch of jobs; none of it has been submitted."""
        count = len(columns.job_id)
        counters[codes.FORESEEN] = 0 if self._asks else count
        self._first = int(counters[codes.SUBMITTED])
        if self.needs_jobs:
            self._jobs.update(enumerate((traced.job for traced in jobs), self._first))
            self._unit_demands = unit_demands(columns, self._parts.system)

    def predict(self, batch: Batch, tables: Tables, output: Output, checks: ColumnChecks) -> None:
        """Ask for predictions of the jobs that are submitted now."""
        counters = tables.counters
        self.learn(counters, output)
        k, now = int(counters[codes.FORESEEN]), counters[codes.NOW]
        while k < len(batch.number) and batch.submit_time[k] == now:
            job = self._jobs[self._first + k]
            with self._told_in_time("predictor"):
                predicted = self._driver.predict(job, int(batch.run_time[k]))
            checks.lasting(predicted)
            batch.predicted[k] = predicted
            demand = job.units * self._unit_demands[batch.shape[k]]
            considered = Considered(job.submit_time, predicted, demand)
            for order, keys in zip(self._orders, (batch.keys, batch.behind_keys), strict=True):
                set_key(order, keys[k], considered)
            k += 1
        counters[codes.FORESEEN] = k

    def learn(self, counters: IntArray, output: Output) -> None:
        """Notify the predictor of the jobs that have ended since the last call."""
        first, self._told = self._told, int(counters[codes.OUT_JOBS])
        if not self._jobs or first == self._told:
            return
        ended = output.jobs[first : self._told]
        columns = codes.OUT_SEQUENCE, codes.OUT_START, codes.OUT_END, codes.OUT_HOW
        for sequence, start, end, how in ended[:, columns].tolist():
            if how == codes.REQUEUED:
                continue
            job = self._jobs.pop(sequence)
            if self._asks and how == codes.ENDED:
                with self._told_in_time("predictor"):
                    self._driver.observe(job, end - start)

    @contextmanager
    def _told_in_time(self, what: str) -> Iterator[None]:
        """Turn the error of a plugin into one that makes it fail event by event."""
        try:
            yield
        except PluginError:
            if self._in_python:
                raise
            raise NeedsPythonError(f"a {what} that fails") from None

    def taken(self) -> None:
        """Note that the record of events begins anew."""
        self._told = 0

    def correct(self, tables: Tables) -> None:
        """Ask for corrections of outlived predictions of running jobs."""
        now, jobs = int(tables.counters[codes.NOW]), tables.jobs
        for row in tables.running[: tables.counters[codes.RUNNING]].tolist():
            if jobs[row, codes.PLANNED_END] > now:
                return
            if jobs[row, codes.SHOWN_END] > now:
                continue
            start, predicted = int(jobs[row, codes.START]), int(jobs[row, codes.PREDICTED])
            job = self._jobs[int(jobs[row, codes.SEQUENCE])]
            with self._told_in_time("correction"):
                run_time = corrected_run_time(self._parts.correction, job, predicted, now - start)
            jobs[row, codes.SHOWN_END] = start + run_time
