"""Check of the protocol of predictors, on sample workloads."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.list_scheduling import ListScheduler
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.errors import PluginError
from hpcsched.plugins.product_check import product_fault
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.system.system import System
from hpcsched.testing.replaying import replay
from hpcsched.testing.sample_replays import expect
from hpcsched.testing.workloads import sample_workloads
from hpcsched.workload.job import Job, TracedJob


class _Listener:
    """Predictor that passes on to another, and keeps its predictions."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self.predictions: dict[int, int] = {}

    def predict(self, job: Job) -> int:
        predicted = self._predictor.predict(job)
        if type(predicted) is not int or predicted < 1:
            raise AssertionError(
                f"job {job.job_id}: expected a whole number of seconds, at least 1,"
                f" found {predicted!r}"
            )
        self.predictions[job.job_id] = predicted
        return predicted

    def observe(self, job: Job, run_time: int) -> None:
        self._predictor.observe(job, run_time)


def check_predictor(make: Callable[[], Predictor], *, seeds: Iterable[int] = range(3)) -> None:
    """Replay sample workloads with predictors, and check the predictions.

    Predictions must be whole numbers of seconds, at least 1; equal when the workload is replayed
    again; and equal when the run times of jobs that have not ended differ. An oracle is refused,
    since it is shown run times.

    Raises
    ------
    AssertionError
        If a prediction is wrong; a note names the workload.
    """
    predictor = make()
    if isinstance(predictor, Oracle):
        raise AssertionError("this is an oracle: it has a method 'foresee'")
    expect(product_fault(predictor, "predictor"))
    for seed in seeds:
        for workload in sample_workloads(seed):
            try:
                _check(make, workload.jobs, workload.system)
            except Exception as error:
                error.add_note(f"on sample workload {workload.name!r}, seed {seed}")
                raise


class _Replayed(NamedTuple):
    """Predictions and end times by job number."""

    predictions: dict[int, int]
    end_times: dict[int, int | None]


def _replay(make: Callable[[], Predictor], jobs: Sequence[TracedJob], system: System) -> _Replayed:
    """Replay in order of arrival, independently of predictions."""
    listener = _Listener(make())
    # Starts in order of arrival do not depend on predictions, so end times are equal in all
    # replays.
    in_order = ListScheduler(ArrivalOrder(), "strict", FirstFit())
    try:
        records = replay(in_order, jobs, system, listener)
    except PluginError as error:
        if isinstance(error.__cause__, AssertionError):  # the listener's own
            raise error.__cause__ from None
        # The listener stands before the predictor, and is nobody's plugin.
        _, _, what = str(error).partition(", ")
        raise AssertionError(what) from error.__cause__
    return _Replayed(
        listener.predictions, {record.job.job_id: record.end_time for record in records}
    )


def _check(make: Callable[[], Predictor], jobs: Sequence[TracedJob], system: System) -> None:
    first = _replay(make, jobs, system)
    _expect_equal(first, _replay(make, jobs, system), jobs, "when replayed again")

    middle = jobs[len(jobs) // 2].job.submit_time
    # A predictor that looks ahead is found out: only run times that end later are changed.
    other_future = [
        TracedJob(job, run_time + 1000 if (first.end_times[job.job_id] or 0) > middle else run_time)
        for job, run_time in jobs
    ]
    past = [traced for traced in jobs if traced.job.submit_time <= middle]
    second = _replay(make, other_future, system)
    _expect_equal(first, second, past, "when jobs that have not ended yet run for longer")


def _expect_equal(
    first: _Replayed, second: _Replayed, jobs: Sequence[TracedJob], when: str
) -> None:
    for job, _ in jobs:
        one, other = first.predictions[job.job_id], second.predictions[job.job_id]
        if one != other:
            raise AssertionError(f"job {job.job_id}: {one} s predicted, and {other} s {when}")
