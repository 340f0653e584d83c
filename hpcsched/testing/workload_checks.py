"""Checks of the plugins that decide about jobs, change, predict, observe or measure them.

All but the check of trace sources use sample workloads, which a note on an error names. What a run
would refuse of a third party's plugin raises the PluginError or DecisionError of that run, and what
is wrong otherwise an AssertionError.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pytest import approx

import hpcsched
from hpcsched.dispatching.additional import DataProvider
from hpcsched.dispatching.decision import STARTS, Reason
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.dispatching.planned_cost import Plannable, PlannableRatio, cost_fault
from hpcsched.dispatching.problem import Objective, RunningJob, waiting_job
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.metrics.metric import Column, Metric, RunTables, figure_fault
from hpcsched.plugins.plugin_checks import MEMBERS
from hpcsched.prediction.predictor import Oracle, Predictor, corrected_run_time
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.runs.recorder import table_of_jobs
from hpcsched.runs.replaying import replay_in_python
from hpcsched.runs.tables import ArrowTable
from hpcsched.simulation.parts import Parts
from hpcsched.system.space import idle_room
from hpcsched.testing import replaying
from hpcsched.testing.building import SampleWorkload
from hpcsched.testing.replaying import SEEDS, expect, expect_no, noted, under_test, workloads
from hpcsched.workload.job_batches import GivesColumns, RequestNumbers, records_of
from hpcsched.workload.trace_source import checked_source
from hpcsched.workload.transform import Transform, TransformedSource

_BACKFILLING = list_rule(ArrivalOrder(), "backfill", hpcsched.FirstFit())


def check_dispatcher(
    make: Callable[[], hpcsched.Dispatcher],
    *,
    seeds: Iterable[int] = SEEDS,
    reproducible: bool = True,
) -> None:
    """Replay sample workloads under dispatchers, and audit every replay.

    Jobs with equal units are replayed twice, with and without the number of free units. Reasons
    must fit the starts; none need be given.

    Parameters
    ----------
    reproducible
        True: the dispatcher must decide equally when asked again, and when asked for reasons.
    """
    _check_replays(lambda: (under_test(make, "dispatcher"),), seeds, reproducible)


def check_allocator(
    make: Callable[[], hpcsched.Allocator], *, seeds: Iterable[int] = SEEDS
) -> None:
    """Replay sample workloads with allocators, and audit every replay.

    All units must be placed on nodes where they fit, in ascending order; the given room must stay
    as it is; and a replay must be the same when it is repeated.
    """

    def parts() -> tuple[hpcsched.Dispatcher, hpcsched.Allocator]:
        allocator = under_test(make, "allocator")
        return list_rule(ArrivalOrder(), "backfill", allocator), allocator

    _check_replays(parts, seeds)


def check_queue_order(make: Callable[[], QueueOrder], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads in orders, and audit every replay.

    Each queued job must be there once, and a replay must be the same when it is repeated.
    """

    def parts() -> tuple[hpcsched.Dispatcher, QueueOrder]:
        order = under_test(make, "queue_order")
        return list_rule(order, "backfill", hpcsched.FirstFit()), order

    _check_replays(parts, seeds)


def _check_replays(
    parts: Callable[[], tuple[hpcsched.Dispatcher, *tuple[object, ...]]],
    seeds: Iterable[int],
    reproducible: bool = True,
) -> None:
    """Replay under a dispatcher and its new parts, three times, the last time with reasons."""
    for workload, form, where in workloads(seeds, ("nodes", "units")):
        first: list[hpcsched.JobRecord] = []
        for when in ("the first time", "the second time", "when asked for reasons"):
            dispatcher, *followers = parts()
            with noted(where):
                # Reasons are asked for in explained runs only; asking must not change a start.
                records = replaying.replay(
                    dispatcher,
                    workload.jobs,
                    workload.system,
                    observers=[ReasonCheck()] if when == "when asked for reasons" else (),
                    followers=followers,
                    aggregated=form == "units",
                )
                if not first:
                    replaying.audit_replay(records, workload.jobs, workload.system)
                    first = records
                elif reproducible:
                    _expect_equal(first, records, when)


class ReasonCheck(hpcsched.Observer):
    """Observer that raises an AssertionError where reasons and starts contradict each other.

    The simulator checks that a reason is about a queued job of its own. A dispatcher need not give
    any.
    """

    def __init__(self) -> None:
        self._started: set[int] = set()

    def job_started(self, job: RunningJob) -> None:
        """Record the starts of a round."""
        self._started.add(job.job_id)

    def reasons_given(self, record: hpcsched.RoundRecord, reasons: Sequence[Reason]) -> None:
        """Check the reasons of a round."""
        for reason in reasons:
            starts = reason.job_id in self._started
            what = f"round {record.round}: the reason of job {reason.job_id} is {reason.kind!r}"
            does = "starts" if starts else "does not start"
            expect(starts == (reason.kind in STARTS), f"{what}, and the job {does}")
        # Starts are told before the reasons of their round, hence the set is of one round.
        self._started.clear()


def _expect_equal(
    records: list[hpcsched.JobRecord], others: list[hpcsched.JobRecord], when: str
) -> None:
    """Raise an AssertionError if two replays of the same jobs differ."""
    for first, second in zip(map(_told, records), map(_told, others), strict=True):
        expect(first == second, f"two replays differ, first in {first}, and {second} {when}")


def _told(record: hpcsched.JobRecord) -> str:
    job, start, at = f"job {record.job.job_id}", record.start_time, record.allocation
    if at is None:
        return f"{job}, which is rejected"
    return f"{job}, which starts at {start} on nodes {at.nodes} with units {at.units}"


def check_predictor(make: Callable[[], Predictor], *, seeds: Iterable[int] = SEEDS) -> None:
    """Replay sample workloads with predictors, and check the predictions.

    Predictions must be whole numbers of seconds; equal when the workload is replayed again; and
    equal when the run times of jobs that have not ended differ. An oracle is refused, since it is
    shown run times.
    """
    expect(not isinstance(make(), Oracle), "this is an oracle: it has a method 'foresee'")
    # Starts in order of arrival do not depend on predictions, so end times are always equal.
    in_order = list_rule(ArrivalOrder(), "strict", hpcsched.FirstFit())
    for workload, _, where in workloads(seeds):

        def records_of_jobs(
            jobs: Sequence[hpcsched.TracedJob], system: hpcsched.System = workload.system
        ) -> dict[int, hpcsched.JobRecord]:
            records = replaying.replay(in_order, jobs, system, under_test(make, "predictor"))
            return {record.job.job_id: record for record in records}

        jobs = workload.jobs
        with noted(where):
            first = records_of_jobs(jobs)
            middle = jobs[len(jobs) // 2].job.submit_time
            # A predictor that looks ahead is found out: only run times that end later are changed.
            other_future = [
                hpcsched.TracedJob(job, run + 1000 * ((first[job.job_id].end_time or 0) > middle))
                for job, run in jobs
            ]
            for others, last, when in (
                (jobs, jobs[-1].job.submit_time, "when replayed again"),
                (other_future, middle, "when jobs that have not ended yet run for longer"),
            ):
                for number, record in records_of_jobs(others).items():
                    one, other = first[number].predicted_run_time, record.predicted_run_time
                    expect(
                        one == other or record.job.submit_time > last,
                        f"job {number}: {one} s predicted, and {other} s {when}",
                    )


def check_correction(
    make: Callable[[], hpcsched.Correction], *, seeds: Iterable[int] = SEEDS
) -> None:
    """Ask corrections about jobs of sample workloads, and check the answers.

    Answers must be whole numbers of seconds above the elapsed ones, and equal when asked again.
    """
    for workload, _, where in workloads(seeds):
        # Two objects: a correction that keeps what it was asked would answer differently the
        # second time.
        one, other = under_test(make, "correction"), under_test(make, "correction")
        for job, _ in workload.jobs:
            for predicted in {1, 1 + job.requested_time // 3, job.requested_time}:
                for more in (0, 1, predicted, job.requested_time, 10 * job.requested_time):
                    question = job, predicted, predicted + more
                    with noted(where), noted(f"{predicted} s predicted, {question[2]} s elapsed"):
                        first, again = (corrected_run_time(c, *question) for c in (one, other))
                        what = f"job {job.job_id}: {first} s answered, and {again} s"
                        expect(first == again, f"{what} when asked again")


class _Asks(hpcsched.Observer):
    """Observer that asks another for its data after each round, twice."""

    def __init__(self, provider: DataProvider) -> None:
        self._provider = provider

    def round_ended(self, record: hpcsched.RoundRecord) -> None:
        first, again = (self._provider.additional_data(record.now) for _ in range(2))
        when = f"second {record.now}: expected"
        named = isinstance(first, Mapping) and all(isinstance(name, str) for name in first)
        expect(named, f"{when} a mapping of names to additional data", first)
        expect(repr(first) == repr(again), f"{when} the same data when asked again", first, again)


def check_observer(
    make: Callable[[Path], hpcsched.Observer],
    *,
    seeds: Iterable[int] = SEEDS,
    reproducible: bool = True,
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
    """

    def written(*workloads: SampleWorkload) -> dict[str, bytes]:
        """Replay under a new observer, compare, and return the content of its files by name."""
        with TemporaryDirectory() as name:
            observer = under_test(lambda: make(Path(name)), "observer")
            asks = [_Asks(observer)] if isinstance(observer, DataProvider) else []
            for _, system, jobs, _ in workloads:
                alone = replaying.replay(_BACKFILLING, jobs, system)
                watched = replaying.replay(_BACKFILLING, jobs, system, observers=[observer, *asks])
                _expect_equal(alone, watched, "under the observer")
            observer.close()
            files = sorted(path for path in Path(name).rglob("*") if path.is_file())
            return {str(path.relative_to(name)): path.read_bytes() for path in files}

    with noted("in a simulation without an event"):
        written()
    for workload, _, where in workloads(seeds):
        with noted(where):
            first, again = written(workload), written(workload)
            for name in sorted(first.keys() | again.keys()) if reproducible else ():
                same = first.get(name) == again.get(name)
                expect(same, f"expected the same {name} when replayed again, found another")


def check_metric(make: Callable[[], Metric], *, seeds: Iterable[int] = SEEDS) -> None:
    """Measure replays of sample workloads, and check the figures.

    Unit and population must be texts, the population not empty. A figure must be a finite number
    or None, also of a run without jobs; the same when measured again; and the same whatever the
    size of the batches in which the tables come.
    """
    metric = under_test(make, "metric")
    expect(metric.population, "expected a text as population", metric.population)

    def measure(system: hpcsched.System, jobs: "_InBatches", rounds: "_InBatches") -> object:
        capacity = dict(zip(system.resource_types, system.totals, strict=True))
        return metric.measure(RunTables(jobs, rounds, capacity))

    _check_figures(measure, seeds)


def check_objective(make: Callable[[], Objective], *, seeds: Iterable[int] = SEEDS) -> None:
    """Measure replays of sample workloads, and check the values and the cost of plans.

    Values are checked as those of a metric are. A planned cost must be one of the jobs asked
    about, with weights that are finite and not negative, also for no jobs. Of two plans of which
    the objective of one is less, its planned cost must be less as well.
    """
    objective = under_test(make, "objective")
    _check_figures(lambda _, jobs, __: objective.measure(jobs), seeds)
    for workload, _, where in workloads(seeds):
        with noted(where):
            _check_cost(objective, workload)


class _InBatches:
    """Table in batches of some rows."""

    def __init__(self, table: pa.Table, size: int) -> None:
        self._table, self._size = table, size

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the columns, batch by batch."""
        for begin in range(0, len(self._table), self._size):
            for batch in ArrowTable(self._table.slice(begin, self._size)).batches(*columns):
                # As in a run: figures share their tables.
                for column in batch:
                    column.flags.writeable = False
                yield batch


def _check_figures(
    measure: Callable[[hpcsched.System, _InBatches, _InBatches], object], seeds: Iterable[int]
) -> None:
    for workload, _, where in workloads(seeds):
        system = workload.system
        parts = Parts(system, _BACKFILLING, "list", RequestedTime(), BoundedSlowdown())
        tables = replay_in_python(parts, workload.jobs, places=False)
        with noted(where):
            whole: Any = measure(system, *(_InBatches(table, 1000) for table in tables))
            expect_no(figure_fault(whole))
            for size in (1000, 1, 7):
                when = f"in batches of {size} rows"
                found: Any = measure(system, *(_InBatches(table, size) for table in tables))
                same = whole is found or (whole is not None and found == approx(whole, 1e-9, 1e-9))
                expect(same, f"expected the same figure {when}", whole, found)
            nothing = measure(system, *(_InBatches(table[:0], 100) for table in tables))
            expect_no(figure_fault(nothing), "without jobs: ")


def _check_cost(objective: Objective, workload: SampleWorkload) -> None:
    """Check planned costs, and that they order pairs of plans as the objective does."""
    now, system = workload.jobs[-1].job.submit_time, workload.system
    jobs = [waiting_job(job, job.requested_time, system) for job, _ in workload.jobs[:12]]
    for some in ([], jobs):
        if isinstance(objective, Plannable):
            expect_no(cost_fault(objective.planned_cost(some, now), len(some)), "planned_cost: ")
        elif isinstance(objective, PlannableRatio):
            ratio = objective.planned_ratio(some, now, 1.0)
            expect_no(cost_fault(ratio, len(some)), "planned_ratio: ")
    if not isinstance(objective, Plannable):
        return
    cost = objective.planned_cost(jobs, now)
    run_times = np.array([job.predicted_run_time for job in jobs], dtype=np.int64)
    random = np.random.default_rng(0)
    for _ in range(40):
        costs, values = [], []
        for starts in random.integers(0, 1000, (2, len(jobs))):
            costs.append(cost.value(starts, run_times))
            records = []
            for job, start in zip(jobs, (now + starts).tolist(), strict=True):
                run_time = job.predicted_run_time
                ran = (start, start + run_time, None)
                records.append(hpcsched.JobRecord(job.job, job.demand, run_time, "completed", *ran))
            values.append(objective.measure(ArrowTable(table_of_jobs(system, records))))
        first, second = values
        # Rounding may decide between plans that are as good as equal.
        if first is None or second is None or math.isclose(first, second) or math.isclose(*costs):
            continue
        same = (costs[0] < costs[1]) == (first < second)
        expected = "planned_cost: expected less for the plan with the lower objective"
        expect(same, f"{expected}, found costs of {costs} for objectives of {values}")


def check_trace_source(
    make: Callable[[hpcsched.System], hpcsched.TraceSource], system: hpcsched.System
) -> None:
    """Read a trace to its end, twice, and check its jobs and its account.

    Jobs must come by ascending submit time, each number once, with whole numbers of seconds and
    units, and fit on the system. Every record must be counted as submitted or skipped. A second
    reading must yield the same jobs and the same account. A uniform request, columns, recorded
    waits and dependencies must agree with the jobs. Files must exist.
    """
    source: Any = under_test(lambda: make(system), "trace_source")
    reading = checked_source(source, system)
    waits: Mapping[int, object] | None = reading.keep_waits()  # type: ignore[attr-defined]
    jobs = list(reading.jobs())
    expect(jobs, "expected a trace with jobs that fit on the system, found none")
    # A copy: the source may go on counting in the same one.
    account = deepcopy(reading.account)
    for path in reading.files:
        expect(path.is_file(), f"expected the paths of its input files, found {path!r} in files")
    for name in MEMBERS["trace_source"]:
        getattr(reading, name)
    numbers = {traced.job.job_id for traced in jobs}
    for number, wait in (waits or {}).items():
        known = number in numbers and type(wait) is int and wait >= 0
        expected = "keep_waits: expected whole seconds by the number of a job"
        expect(known, f"{expected}, found {wait!r} for {number!r}")
    for job, _ in jobs:
        fits = idle_room(system, job.request).units >= job.units
        expect(fits, f"job {job.job_id}: expected a job that fits on the system", job)
    same = list(source.jobs()) == jobs and source.account == account
    expect(same, "expected the same jobs and account when read again, found others")
    # A source that is left in the middle of the trace begins anew as well.
    next(source.jobs())
    same = list(source.jobs()) == jobs
    expect(same, "expected the same jobs after an interrupted reading, found others")
    if isinstance(source, GivesColumns):
        columns = records_of(source.job_columns(RequestNumbers()))
        same = [(job.job_id, run) for job, run in columns] == [(j.job_id, run) for j, run in jobs]
        expect(same, "job_columns: expected the jobs of jobs(), found others")


class _Given:
    """Trace source of given jobs."""

    uniform_request = fraction_read = None
    files: Sequence[Path] = ()
    comments: Sequence[str] = ()

    def __init__(self, given: Sequence[hpcsched.TracedJob]) -> None:
        self._given = given
        self.account = hpcsched.TraceAccount(len(given), len(given))

    def jobs(self) -> Iterator[hpcsched.TracedJob]:
        return iter(self._given)


def check_transform(
    make: Callable[[], Transform],
    *,
    capabilities: Collection[str] = (),
    seeds: Iterable[int] = SEEDS,
) -> None:
    """Transform sample workloads, and check the jobs that remain and the account.

    Jobs must come by ascending submit time, with whole numbers, and keep their job numbers. Every
    job that is taken must be passed on or counted as skipped. The transform must yield the same
    jobs when it is applied again, also after an interrupted reading, and cope with no jobs. It
    must keep to its capabilities.
    """

    def source_of(given: Sequence[hpcsched.TracedJob], transform: Transform) -> TransformedSource:
        return TransformedSource(_Given(given), [("it", transform)], keeps_requests=False)

    with noted("without jobs"):
        list(source_of([], under_test(make, "transform")).jobs())
    for workload, _, where in workloads(seeds):
        with noted(where):
            transform = under_test(make, "transform")
            jobs = list(source_of(workload.jobs, transform).jobs())
            _check_kept(workload.jobs, jobs, capabilities)
            # Part of the jobs, then all: state of the first reading must not be left.
            list(islice(source_of(workload.jobs, transform).jobs(), 3))
            same = list(source_of(workload.jobs, transform).jobs()) == jobs
            expect(same, "expected the same jobs when applied again, found others")


def _check_kept(
    given: Sequence[hpcsched.TracedJob],
    jobs: Sequence[hpcsched.TracedJob],
    capabilities: Collection[str],
) -> None:
    """Check requests and submit times of jobs against the capabilities of a transform."""
    given_jobs = {job.job_id: job for job, _ in given}
    moves = set()
    for job, _ in jobs:
        before = given_jobs[job.job_id]
        moves.add(before.submit_time - job.submit_time)
        one, other = (each.request._replace(units=1) for each in (before, job))
        expected = f"job {job.job_id}: expected the request"
        kept = one == other or hpcsched.KEEPS_REQUESTS not in capabilities
        expect(kept, f"{expected} of a unit kept, as {hpcsched.KEEPS_REQUESTS!r} says", other)
        kept = before.request == job.request or hpcsched.KEEPS_WAITS not in capabilities
        expect(kept, f"{expected} kept, as {hpcsched.KEEPS_WAITS!r} says", job.request)
    kept = len(moves) < 2 or hpcsched.KEEPS_WAITS not in capabilities
    expected = f"expected all submit times moved alike, as {hpcsched.KEEPS_WAITS!r} says"
    expect(kept, f"{expected}, found moves of {sorted(moves)} s")
