"""Predictions and corrections in a replay of columns: known beforehand, or asked for on the way.

Requested and real run times are known when jobs are read. Any other predictor is asked when the
loop of events has come to a submission, and told before that of the jobs that have ended since, so
that it is called in order.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Batch, Output, Tables
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.errors import PluginError
from hpcsched.prediction.actual import Actual
from hpcsched.prediction.driver import PredictorDriver, corrected_run_time
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.column_checks import ColumnChecks
from hpcsched.simulation.order_keys import Considered, keys_of, set_key, unit_demands
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import KNOWN_CORRECTIONS
from hpcsched.system.system import IntArray
from hpcsched.workload.columns import JobColumns, NeedsPythonError
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.time_bounds import LONGEST


class ArrayPredictions:
    """What is predicted of jobs, and by which numbers they are considered therefore.

    `orders` are those of the queue and behind the head job. What a plugin does wrong raises
    PluginError where Python decides (`in_python`), and is asked for corrections, and otherwise
    NeedsPythonError: event by event, it fails in time.
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
        """Return how long jobs will run here, `[B]`, in seconds."""
        if self._parts.kill_at_requested_time:
            return np.minimum(columns.run_time, columns.requested_time)
        return columns.run_time

    def known(self, columns: JobColumns) -> IntArray:
        """Return what is predicted of a batch of jobs, `[B]`, at least 1 s; 0 to be asked for."""
        if self._asks:
            return np.zeros(len(columns.job_id), dtype=np.int64)
        actual = type(self._parts.predictor) is Actual
        return np.maximum(self.run_times(columns) if actual else columns.requested_time, 1)

    def keys(self, columns: JobColumns, predicted: IntArray) -> tuple[IntArray, IntArray]:
        """Return the keys of a batch of jobs in both orders, `[B, K]`."""
        system = self._parts.system
        one, other = (keys_of(order, columns, predicted, system) for order in self._orders)
        return one, other

    @property
    def needs_jobs(self) -> bool:
        """Whether a predictor or a correction is to be told of jobs."""
        asks_corrections = type(self._parts.correction) not in KNOWN_CORRECTIONS
        return self._asks or self._in_python or asks_corrections

    def begin(self, columns: JobColumns, jobs: Sequence[TracedJob], counters: IntArray) -> None:
        """Take note of the next batch of jobs, of which none has been submitted."""
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
            if predicted > LONGEST:
                raise NeedsPythonError("predictions that are too large")
            checks.lasting(predicted)
            batch.predicted[k] = predicted
            demand = job.units * self._unit_demands[batch.shape[k]]
            considered = Considered(job.submit_time, predicted, demand)
            for order, keys in zip(self._orders, (batch.keys, batch.behind_keys), strict=True):
                set_key(order, keys[k], considered)
            k += 1
        counters[codes.FORESEEN] = k

    def learn(self, counters: IntArray, output: Output) -> None:
        """Tell the predictor of the jobs that have ended since."""
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
        """Have a plugin that fails do so event by event."""
        try:
            yield
        except PluginError:
            if self._in_python:
                raise
            raise NeedsPythonError(f"a {what} that fails") from None

    def dismissed(self, sequence: IntArray) -> None:
        """Take note of jobs that the dispatcher rejects, by their places among all submitted."""
        for number in sequence.tolist():
            self._jobs.pop(number)

    def taken(self) -> None:
        """Take note that what was written down begins anew."""
        self._told = 0

    def correct(self, tables: Tables) -> None:
        """Ask for corrections of the predictions that running jobs have outlived by now."""
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
            if run_time > LONGEST:
                raise NeedsPythonError("corrections that are too large")
            jobs[row, codes.SHOWN_END] = start + run_time
