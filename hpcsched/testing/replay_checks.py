"""Checks of dispatchers, orders, allocators, predictors, corrections and observers by replays."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.additional import DataProvider
from hpcsched.dispatching.allocator import Allocator, Room, allocation_fault, slot_fault
from hpcsched.dispatching.decision import STARTS, Reason
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder, order_fault
from hpcsched.errors import PluginError
from hpcsched.plugins.plugin_checks import product_fault
from hpcsched.prediction.predictor import Correction, Oracle, Predictor
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.space import Interval, NodeAllocation
from hpcsched.system.system import System
from hpcsched.testing.building import SampleWorkload
from hpcsched.testing.replaying import (
    SEEDS,
    audit_replay,
    backfilling,
    expect,
    noted,
    replay,
    told,
    workloads,
)
from hpcsched.workload.job import LONGEST, Job, TracedJob


def check_dispatcher(
    make: Callable[[], Dispatcher], *, seeds: Iterable[int] = SEEDS, reproducible: bool = True
) -> None:
    """Replay sample workloads under dispatchers, and audit every replay.

    Jobs with equal units are replayed twice, with free resources stated as nodes and as slots.
    Reasons must fit the starts; none need be given.

    Parameters
    ----------
    reproducible
        True: the dispatcher must decide equally when asked again, and when asked for reasons.

    Raises
    ------
    DecisionError
        If a decision cannot be carried out or jobs wait for ever.
    AssertionError
        If an audit finds a violation; a note names the workload.
    """
    expect(product_fault(make(), "dispatcher"))
    for workload, aggregated, where in _in_both_forms(seeds):

        def run(
            *observers: Observer, workload: SampleWorkload = workload, aggregated: bool = aggregated
        ) -> list[JobRecord]:
            dispatcher = make()
            heard = (*told(dispatcher), *observers)
            return replay(
                dispatcher, workload.jobs, workload.system, aggregated=aggregated, observers=heard
            )

        with noted(where):
            records = run()
            audit_replay(records, workload.jobs, workload.system)
            if reproducible:
                _expect_equal(records, run(), "the second time")
            # Reasons are asked for in explained runs only, and asking must not change a start.
            explained = run(ReasonCheck())
            if reproducible:
                _expect_equal(records, explained, "when asked for reasons")


def _in_both_forms(seeds: Iterable[int]) -> Iterator[tuple[SampleWorkload, bool, str]]:
    """Yield sample workloads for nodes and, where all units are equal, for slots."""
    for (workload, where), aggregated in product(workloads(seeds), (False, True)):
        if workload.uniform or not aggregated:
            yield workload, aggregated, f"{where}, as {'slots' if aggregated else 'nodes'}"


class ReasonCheck(Observer):
    """Observer that raises an AssertionError where reasons and starts contradict each other.

    The simulator checks that a reason is about a queued job of its own. A dispatcher need not give
    any.
    """

    def __init__(self) -> None:
        self._started: set[int] = set()

    def job_started(self, job: RunningJob) -> None:
        """Record the starts of a round."""
        self._started.add(job.job_id)

    def reasons_given(self, record: RoundRecord, reasons: Sequence[Reason]) -> None:
        """Check the reasons of a round."""
        for reason in reasons:
            starts = reason.job_id in self._started
            if starts != (reason.kind in STARTS):
                raise AssertionError(
                    f"round {record.round}: the reason of job {reason.job_id} is {reason.kind!r},"
                    f" and the job {'starts' if starts else 'does not start'}"
                )
        # Starts are told before the reasons of their round, hence the set is of one round.
        self._started.clear()


def _expect_equal(records: list[JobRecord], others: list[JobRecord], when: str) -> None:
    """Raise an AssertionError if two replays of the same jobs differ."""
    for first, second in zip(records, others, strict=True):
        if _outcome(first) != _outcome(second):
            raise AssertionError(
                f"two replays differ, first in job {first.job.job_id}: it {_told(first)}, and"
                f" job {second.job.job_id} {_told(second)} {when}"
            )


def _outcome(record: JobRecord) -> tuple[object, ...]:
    allocation = record.allocation
    where = allocation and (allocation.nodes, allocation.units)
    return record.job.job_id, record.start_time, record.end_time, where


def _told(record: JobRecord) -> str:
    if record.allocation is None:
        return "is rejected"
    return f"starts at {record.start_time} on nodes {record.allocation.nodes}"


class _AskedAllocator:
    """Allocator that asks another, and checks its answers."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        fits, available = room.fits.copy(), room.available.copy()
        allocation = self._allocator.allocate(units, room)
        whose = f"{units} units where {fits.tolist()} fit"
        expect(allocation_fault(allocation, units, fits), whose)
        same = np.array_equal(room.fits, fits) and np.array_equal(room.available, available)
        expect(None if same else "expected the room unchanged, found it changed", whose)
        return allocation


class _AskedForSlots(_AskedAllocator):
    """The same for an allocator that also chooses slots."""

    def __init__(self, allocator: Any) -> None:
        super().__init__(allocator)
        self._slots = allocator

    def allocate_slots(self, units: int, free: list[Interval]) -> tuple[Interval, ...]:
        before = list(free)
        taken: tuple[Interval, ...] = self._slots.allocate_slots(units, free)
        expect(slot_fault(taken, units, before, free), f"{units} slots of {before}")
        return taken


def check_allocator(make: Callable[[], Allocator], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads with allocators, and check every allocation.

    All units must be placed on nodes where they fit, in ascending order; the given room must stay
    as it is; and a replay must be the same when it is repeated. An allocator of slots must take
    free ones, as many as asked for, out of the list of free ones.

    Raises
    ------
    AssertionError
        If an allocation is wrong; a note names the workload.
    """
    expect(product_fault(make(), "allocator"))
    for workload, aggregated, where in _in_both_forms(seeds):
        with noted(where):
            replays = []
            for _ in range(2):
                allocator = make()
                slots = hasattr(allocator, "allocate_slots")
                dispatcher = backfilling(
                    allocator=(_AskedForSlots if slots else _AskedAllocator)(allocator)
                )
                replays.append(
                    replay(
                        dispatcher,
                        workload.jobs,
                        workload.system,
                        observers=told(allocator),
                        aggregated=aggregated,
                    )
                )
            audit_replay(replays[0], workload.jobs, workload.system)
            _expect_equal(replays[0], replays[1], "the second time")


class _AskedOrder:
    """Queue order that asks another, and checks its answers."""

    def __init__(self, order: QueueOrder) -> None:
        self._order = order

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        whose = f"round {problem.round}"
        queue = self._order.sort(problem)
        expect(order_fault(problem, queue), whose)
        first = [job.job_id for job in queue]
        again = [job.job_id for job in self._order.sort(problem)]
        if first != again:
            raise AssertionError(f"{whose}: jobs {first}, and {again} when asked again")
        return queue


def check_queue_order(make: Callable[[], QueueOrder], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads in orders, and check every sorted queue.

    Each queued job must be there once; a queue must be sorted the same way when it is sorted
    again; and a replay must be the same when it is repeated.

    Raises
    ------
    AssertionError
        If an order is wrong; a note names the workload.
    """
    expect(product_fault(make(), "queue_order"))
    for workload, where in workloads(seeds):
        with noted(where):
            replays = []
            for _ in range(2):
                order = make()
                dispatcher = backfilling(_AskedOrder(order))
                replays.append(
                    replay(dispatcher, workload.jobs, workload.system, observers=told(order))
                )
            _expect_equal(replays[0], replays[1], "the second time")


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


class _Predicted(NamedTuple):
    """Predictions and end times by job number."""

    predictions: dict[int, int]
    end_times: dict[int, int | None]


def check_predictor(make: Callable[[], Predictor], *, seeds: Iterable[int] = SEEDS) -> None:
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
    for workload, where in workloads(seeds):
        with noted(where):
            _check_predictions(make, workload.jobs, workload.system)


def _check_predictions(
    make: Callable[[], Predictor], jobs: Sequence[TracedJob], system: System
) -> None:
    first = _predicted(make, jobs, system)
    _expect_same(first, _predicted(make, jobs, system), jobs, "when replayed again")
    middle = jobs[len(jobs) // 2].job.submit_time
    # A predictor that looks ahead is found out: only run times that end later are changed.
    other_future = [
        TracedJob(job, run_time + 1000 if (first.end_times[job.job_id] or 0) > middle else run_time)
        for job, run_time in jobs
    ]
    past = [traced for traced in jobs if traced.job.submit_time <= middle]
    second = _predicted(make, other_future, system)
    _expect_same(first, second, past, "when jobs that have not ended yet run for longer")


def _predicted(
    make: Callable[[], Predictor], jobs: Sequence[TracedJob], system: System
) -> _Predicted:
    listener = _Listener(make())
    # Starts in order of arrival do not depend on predictions, so end times are equal in all
    # replays.
    in_order = list_rule(ArrivalOrder(), "strict", FirstFit())
    try:
        records = replay(in_order, jobs, system, listener)
    except PluginError as error:
        if isinstance(error.__cause__, AssertionError):  # the listener's own
            raise error.__cause__ from None
        # The listener stands before the predictor, and is nobody's plugin.
        _, _, what = str(error).partition(", ")
        raise AssertionError(what) from error.__cause__
    return _Predicted(
        listener.predictions, {record.job.job_id: record.end_time for record in records}
    )


def _expect_same(
    first: _Predicted, second: _Predicted, jobs: Sequence[TracedJob], when: str
) -> None:
    for job, _ in jobs:
        one, other = first.predictions[job.job_id], second.predictions[job.job_id]
        if one != other:
            raise AssertionError(f"job {job.job_id}: {one} s predicted, and {other} s {when}")


def check_correction(make: Callable[[], Correction], *, seeds: Iterable[int] = SEEDS) -> None:
    """Ask corrections about jobs of sample workloads, and check the answers.

    Answers must be whole numbers of seconds above the elapsed ones, and equal when asked again.

    Raises
    ------
    AssertionError
        If an answer is wrong; a note names the workload.
    """
    expect(product_fault(make(), "correction"))
    for workload, where in workloads(seeds):
        # Two objects: a correction that keeps what it was asked would answer differently the
        # second time.
        one, other = make(), make()
        with noted(where):
            for job, predicted, elapsed in _questions(traced.job for traced in workload.jobs):
                answer = one.correct(job, predicted, elapsed)
                what = f"job {job.job_id}, {predicted} s predicted, {elapsed} s elapsed"
                if type(answer) is not int or answer <= elapsed:
                    raise AssertionError(
                        f"{what}: expected a whole number of seconds above {elapsed},"
                        f" found {answer!r}"
                    )
                if answer > LONGEST:
                    raise AssertionError(f"{what}: expected at most {LONGEST} s, found {answer}")
                again = other.correct(job, predicted, elapsed)
                if again != answer:
                    raise AssertionError(
                        f"{what}: {answer} s answered, and {again!r} s when asked again"
                    )


def _questions(jobs: Iterable[Job]) -> Iterator[tuple[Job, int, int]]:
    """Yield jobs with a predicted and an elapsed time, in seconds."""
    for job in jobs:
        for predicted in {1, 1 + job.requested_time // 3, job.requested_time}:
            for more in (0, 1, predicted, job.requested_time, 10 * job.requested_time):
                yield job, predicted, predicted + more


class _Asks(Observer):
    """Observer that asks another for its data after each round, twice."""

    def __init__(self, provider: DataProvider) -> None:
        self._provider = provider

    def round_ended(self, record: RoundRecord) -> None:
        first, again = (self._provider.additional_data(record.now) for _ in range(2))
        for data in (first, again):
            if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
                raise AssertionError(
                    f"second {record.now}: expected a mapping of names to additional data,"
                    f" found {data!r}"
                )
        if repr(first) != repr(again):
            raise AssertionError(
                f"second {record.now}: expected the same data when asked again, found {first!r}"
                f" and {again!r}"
            )


def check_observer(
    make: Callable[[Path], Observer], *, seeds: Iterable[int] = SEEDS, reproducible: bool = True
) -> None:
    """Replay sample workloads under observers, and check their data.

    An observer must have all methods of its base class; must leave the replay as it is without it;
    must write the same files when the replay is repeated; must be able to close after a simulation
    without an event; and must give the same additional data when asked again.

    Parameters
    ----------
    make
        Function that returns an observer; given the folder in which it writes, an empty one.
    reproducible
        True: the files must be the same when the replay is repeated, as they are unless they hold
        times of the real clock.

    Raises
    ------
    AssertionError
        If the observer is wrong; a note names the workload.
    """
    with TemporaryDirectory() as name:
        observer = make(Path(name))
        expect(product_fault(observer, "observer"))
        with noted("in a simulation without an event"):
            observer.close()
    for workload, where in workloads(seeds):
        with noted(where):
            alone = replay(backfilling(), workload.jobs, workload.system)
            first, again = (_files_written(make, workload, alone) for _ in range(2))
            for name in sorted(first.keys() | again.keys()):
                if reproducible and first.get(name) != again.get(name):
                    raise AssertionError(
                        f"expected the same {name} when replayed again, found another"
                    )


def _files_written(
    make: Callable[[Path], Observer], workload: SampleWorkload, alone: list[JobRecord]
) -> dict[str, bytes]:
    """Replay under an observer, compare, and return the content of its files by name."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        observer = make(folder)
        asks = [_Asks(observer)] if isinstance(observer, DataProvider) else []
        observers = [observer, *asks]
        records = replay(backfilling(), workload.jobs, workload.system, observers=observers)
        observer.close()
        _expect_equal(alone, records, "under the observer")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}
