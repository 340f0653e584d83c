"""Predictions and corrections of a replay: known beforehand, or asked for on the way.

Requested and real run times are known when jobs are read. Any other predictor is asked when the
event loop has come to a submission, after it has been told of the jobs that have ended, so that it
is called in order.
"""

from collections.abc import Sequence

import numpy as np

from hpcsched._core import State
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.prediction.predictor import PredictorDriver, corrected_run_time
from hpcsched.prediction.predictors import Actual, RequestedTime
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import ColumnChecks
from hpcsched.simulation.replay_choices import (
    KNOWN_CORRECTIONS,
    Considered,
    keys_of,
    set_key,
    unit_demands,
)
from hpcsched.simulation.replay_output import ENDED
from hpcsched.system.system import IntArray
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import JobColumns


class ReplayPredictions:
    """Predicted run times, and the sort keys of queue orders that follow from them.

    Attributes
    ----------
    asks
        True if a predictor is asked about each job at its submission.
    """

    def __init__(
        self, parts: Parts, orders: tuple[QueueOrder, QueueOrder], *, in_python: bool
    ) -> None:
        self._parts, self._orders, self._in_python = parts, orders, in_python
        self._driver = PredictorDriver(parts.predictor, parts.predictor_name)
        self.asks = type(parts.predictor) not in (RequestedTime, Actual)
        # Of the jobs that were read and have not ended yet, by their place among all that were,
        # where a predictor or a correction is to be told of them.
        self._jobs: dict[int, Job] = {}
        self._first = 0
        self._unit_demands: list[int] = []
        self._batch: tuple[JobColumns, IntArray, tuple[IntArray, IntArray]]
        # How many of the jobs that have left and are written down the predictor was told of.
        self._told = 0

    def run_times(self, columns: JobColumns) -> IntArray:
        """Return the run times of jobs in this simulation, `[B]`, in seconds."""
        if self._parts.kill_at_requested_time:
            return np.minimum(columns.run_time, columns.requested_time)
        return columns.run_time

    def known(self, columns: JobColumns) -> IntArray:
        """Return the predictions of a batch, `[B]`, in seconds; 0 where they come later."""
        if self.asks:
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
        return self.asks or self._in_python or asks_corrections

    def begin(self, columns: JobColumns, jobs: Sequence[TracedJob], first: int) -> None:
        """Begin the next batch of jobs; `first` have been submitted before it."""
        self._first = first
        if self.needs_jobs:
            self._jobs.update(enumerate((traced.job for traced in jobs), first))
            self._unit_demands = unit_demands(columns, self._parts.system)
        if self.asks:
            self._batch = columns, self.run_times(columns), self.keys(columns, self.known(columns))

    def predict(
        self, k: int, state: State, checks: ColumnChecks
    ) -> tuple[int, list[int], list[int]]:
        """Return the prediction of job `k` of the batch, and its sort keys in both orders."""
        self.learn(state)
        columns, run_times, all_keys = self._batch
        job = self._jobs[self._first + k]
        predicted = self._driver.predict(job, int(run_times[k]))
        checks.lasting(predicted)
        demand = job.units * self._unit_demands[columns.request[k]]
        considered = Considered(job.submit_time, predicted, demand)
        for order, keys in zip(self._orders, all_keys, strict=True):
            set_key(order, keys[k], considered)
        first, behind = (keys[k].tolist() for keys in all_keys)
        return predicted, first, behind

    def learn(self, state: State) -> None:
        """Notify the predictor of the jobs that have ended since the last call."""
        first, self._told = self._told, state.written[0]
        if not self._jobs or first == self._told:
            return
        for sequence, start, end, _, _, how, _, _ in state.left_since(first).tolist():
            job = self._jobs.pop(sequence)
            if self.asks and how == ENDED:
                self._driver.observe(job, end - start)

    def taken(self) -> None:
        """Note that the output begins anew."""
        self._told = 0

    def correct(self, rows: IntArray, state: State) -> list[int]:
        """Return corrected ends of running jobs that have outlived their predictions."""
        names = "sequence", "start", "predicted"
        columns = (state.jobs(name, rows).tolist() for name in names)
        ends = []
        for sequence, start, predicted in zip(*columns, strict=True):
            run_time = corrected_run_time(
                self._parts.correction, self._jobs[sequence], predicted, state.now - start
            )
            ends.append(start + run_time)
        return ends
