"""Forecasts of the jobs that wait on a real cluster, from its state at this moment.

The state becomes the beginning of a replay: a second before now the running jobs are submitted,
each bound to the nodes and amounts that it has there, so that all of them start at once; now the
waiting jobs are submitted. From there on futures are sampled as in a replay of a log. What the
users' jobs took, and what is submitted later, is drawn from the scenario's trace, which is the
cluster's history.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, waiting_job
from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.runs.assembly import Assembly, assemble, parts_of
from hpcsched.scenario import Scenario
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_branches import LaterJobs, ReplayBranch, branches
from hpcsched.simulation.replay_limits import ReplayLimits
from hpcsched.studies.forecast.forecast_file import ForecastFile, WaitingJobForecast
from hpcsched.studies.forecast.forecasting import (
    NOBODY,
    QUANTILES,
    SAMPLES,
    ArrivalHistory,
    Ended,
    Forecast,
    ForecastJob,
    RunTimeHistory,
    StartForecast,
    future_starts,
    job_supposed,
    sampled_lags,
    supposed_job,
)
from hpcsched.system.cluster import WorkloadManager, read_cluster
from hpcsched.system.outages import Outages
from hpcsched.system.system import IntArray, Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import (
    NO_JOBS,
    JobColumns,
    RequestNumbers,
    columns_of,
    joined_columns,
)
from hpcsched.workload.site_partitions import NO_PARTITIONS
from hpcsched_slurm.live.following import Predictions
from hpcsched_slurm.live.session import earliest_submission
from hpcsched_slurm.live.site import check_site, site_of
from hpcsched_slurm.live.snapshot import Asked, Snapshot, snapshot

_LOG = logging.getLogger("hpcsched.live")

_SUPPOSED = 0
"""Number of a job that might be submitted; those of a cluster are above."""
_APART = 1 << 40
"""Distance between the numbers of jobs of the history and those of the cluster's jobs."""


class History(NamedTuple):
    """Jobs that a cluster has completed, in seconds since the origin of its site."""

    columns: JobColumns
    numbers: RequestNumbers
    run_times: RunTimeHistory
    arrivals: ArrivalHistory


def history_of(jobs: Sequence[TracedJob], origin: int) -> History:
    """Return the history of a cluster.

    Parameters
    ----------
    jobs
        Jobs by ascending submit time, in seconds since 1970.
    origin
        Origin of times of the site, in the same seconds.
    """
    numbers = RequestNumbers()
    moved = (
        TracedJob(job._replace(submit_time=job.submit_time - origin, after=()), run_time)
        for job, run_time in jobs
    )
    columns = joined_columns((*columns_of(moved, numbers),) or (NO_JOBS,))
    run_times = RunTimeHistory(columns)
    ends = columns.submit_time + columns.run_time
    # As if none had waited: only the order of the ends matters, which tells recent ones.
    run_times.ended(np.argsort(ends, kind="stable").tolist())
    return History(columns, numbers, run_times, ArrivalHistory(columns))


class ClusterForecaster:
    """Forecasts of the jobs that wait on a scenario's cluster, whose history is learned once.

    Raises
    ------
    InputError
        The scenario does not fit the cluster.
    UnavailableError
        The cluster cannot be read.
    """

    def __init__(self, scenario: Scenario) -> None:
        live = scenario.live
        if live is None:
            message = "it has no 'live:', which says how the cluster is reached"
            raise InputError(Finding("not-live", message))
        self._scenario = scenario.model_copy(update={"observers": ()})
        assembly = assemble(self._scenario).build_all()
        self._manager: WorkloadManager = assembly.make("workload_manager", live.workload_manager)
        state = read_cluster(self._manager)
        self.site = site_of(assembly.system, live, earliest_submission(state))
        check_site(self.site, state.nodes, state.shared)
        past = tuple(assembly.source.jobs())
        self._predictions = Predictions(assembly.predictor, scenario.predictor.plugin_name)
        self._predictions.learn_history(iter(past), self.site.origin)
        self._history = history_of(past, self.site.origin)

    def forecast(
        self,
        supposed: Mapping[str, Any] | None = None,
        quantiles: Sequence[float] = QUANTILES,
        samples: int = SAMPLES,
        ended: Ended = lambda _: None,
    ) -> Forecast:
        """Return the forecasts of the jobs that wait now.

        Parameters
        ----------
        supposed
            A job that might be submitted, as `supposed_job` takes it.
        quantiles
            Shares, ascending, from 0 to 1.

        Raises
        ------
        InputError
            The jobs cannot be replayed, or the supposed job fits nowhere.
        UnavailableError
            The cluster cannot be read.
        """
        seen, futures = self._futures(supposed, samples)
        found = _ascending(seen.problem, futures.starts(ended))
        keys: dict[int, str | None] = {number: job.key for number, job in seen.queue.items()}
        keys[_SUPPOSED] = None
        return _forecast(seen, found, keys, quantiles, samples)

    def to_publish(self, quantiles: Sequence[float], samples: int) -> ForecastFile:
        """Return the same forecasts as others read them; raises what `forecast` raises."""
        seen, futures = self._futures(None, samples)
        problem, origin = seen.problem, self.site.origin
        sampled = futures.starts()
        found = _ascending(problem, sampled)
        starts = [(origin + found.quantile(share)).tolist() for share in quantiles]
        gains: list[int] = futures.gains(sampled).tolist()
        jobs = []
        for k, one in enumerate(problem.queue):
            job = seen.queue[one.job_id]
            jobs.append(
                WaitingJobForecast(
                    job=job.key,
                    partition=job.partition,
                    user=job.user,
                    group=job.group,
                    submit_time=origin + one.submit_time,
                    units=one.units,
                    requested_time=one.job.requested_time,
                    starts=tuple(column[k] for column in starts),
                    gain=gains[k],
                )
            )
        return ForecastFile(
            cluster=self._scenario.name,
            time=origin + problem.now,
            running=_running(problem),
            samples=samples,
            quantiles=tuple(quantiles),
            jobs=tuple(jobs),
        )

    def repeated(
        self, quantiles: Sequence[float], samples: int, every: float, rounds: int | None = None
    ) -> Iterator[ForecastFile]:
        """Yield forecasts at once and then each `every` seconds, `rounds` in all or without end.

        When the cluster cannot be read, or its jobs not be replayed, a warning says so.
        """
        for number in count(1):
            began = time.monotonic()
            try:
                yield self.to_publish(quantiles, samples)
            except HpcschedError as error:
                _LOG.warning("no forecast this time: %s", error)
            if number == rounds:
                return
            time.sleep(max(every - (time.monotonic() - began), 0))

    def _futures(
        self, supposed: Mapping[str, Any] | None, samples: int
    ) -> tuple[Snapshot, "Futures"]:
        # Its parts anew: a dispatcher may remember earlier rounds.
        assembly, site = assemble(self._scenario).build_all(), self.site
        predict = self._predictions.of
        asked = Asked(site, predict, assembly.correction, assembly.objective, driven=False)
        seen = snapshot(read_cluster(self._manager), asked, site.time(time.time()), 0)
        if supposed is not None:
            wanted = supposed_job(supposed, assembly.system)
            limits = ReplayLimits(site.system, assembly.partitions, assembly.policies)
            job = job_supposed(wanted, _SUPPOSED, seen.problem.now, site.system, limits)
            waiting = waiting_job(job, predict(job), site.system)
            queue = (*seen.problem.queue, waiting)
            seen = seen._replace(problem=seen.problem._replace(queue=queue))
        # Requests of today's jobs are numbered behind those of the history, which stays as it is.
        numbers = RequestNumbers()
        for request in self._history.columns.requests:
            numbers.of(request)
        history = self._history._replace(numbers=numbers)
        seed = self._scenario.seed
        return seen, Futures(seen.problem, assembly, history, samples=samples, seed=seed)


_WORTHWHILE = 300
"""Seconds until the middle of a job's starts from which on half of its time limit is tried."""
_AT_A_TIME, _TRIALS = 20, 3
"""Of how many jobs one asks for half, and in how many futures. Others barely notice so few."""


class Futures:
    """Sampled futures of a dispatching problem.

    Equal futures of other queues have equal run times and later jobs, so that few of them tell what
    a change does.
    """

    def __init__(
        self,
        problem: DispatchingProblem,
        assembly: Assembly,
        history: History,
        *,
        samples: int,
        seed: int = 0,
    ) -> None:
        draw = np.random.default_rng([seed, problem.now])
        self._problem, self._parts = problem, _parts(problem, assembly)
        self._columns = _columns(problem, history)
        self._run_times = _run_times(problem, history, samples, draw)
        count = len(history.columns.job_id)
        lag_of = sampled_lags(history.arrivals.lags(count, problem.now), samples, draw)
        of_lag = {
            lag: LaterJobs(history.arrivals.later(count, problem.now, lag)) for lag in set(lag_of)
        }
        self._later = [of_lag[lag] for lag in lag_of]

    def starts(self, ended: Ended = lambda _: None) -> IntArray:
        """Return the start times of the queued jobs in each future, `[S, W]`, in seconds.

        Raises
        ------
        InputError
            The running jobs cannot be placed as they are, or the jobs not be replayed.
        """
        places = np.arange(len(self._problem.queue))
        return self._starts(self._columns, places, len(self._later), ended)

    def gains(self, starts: IntArray) -> IntArray:
        """Return how much sooner each job starts with half of its time limit, `[W]`, in seconds.

        It is 0 unless the job starts sooner in each trial: futures differ by chance, too.

        Parameters
        ----------
        starts
            Start times in each future, `[S, W]`.
        """
        queue, running = self._problem.queue, len(self._problem.running)
        half = np.array([max(one.job.requested_time // 2, 1) for one in queue], dtype=np.int64)
        waits = np.median(starts, axis=0) - self._problem.now
        worthwhile = np.flatnonzero(waits >= _WORTHWHILE)
        found, trials = np.zeros(len(queue), dtype=np.int64), min(_TRIALS, len(starts))
        for first in range(min(_AT_A_TIME, len(worthwhile))):
            places = worthwhile[first::_AT_A_TIME]
            limits = self._columns.requested_time.copy()
            limits[running + places] = np.minimum(limits[running + places], half[places])
            columns = self._columns._replace(requested_time=limits, run_time=limits)
            gained = starts[:trials, places] - self._starts(columns, places, trials)
            found[places] = np.where(gained.min(axis=0) > 0, np.median(gained, axis=0), 0)
        return found

    def _starts(
        self, columns: JobColumns, places: IntArray, futures: int, ended: Ended = lambda _: None
    ) -> IntArray:
        """Return the start times of some of the queued jobs in the first futures, `[F, W]`."""
        if not len(places):
            return np.empty((futures, 0), dtype=np.int64)
        branch = _branch(self._problem, self._parts, columns)
        # By the replay's rows: those that run came first, in the order of their starts.
        run_times = self._run_times[:futures, branch.present.sequence]
        wanted = len(self._problem.running) + places
        return future_starts(branch, run_times, self._later[:futures], wanted, ended)


def _ascending(problem: DispatchingProblem, starts: IntArray) -> StartForecast:
    return StartForecast(problem.now, np.arange(starts.shape[1]), np.sort(starts, axis=0))


def _parts(problem: DispatchingProblem, assembly: Assembly) -> Parts:
    """Return the parts of the replay, with a predictor that repeats the problem's predictions."""
    announced = tuple(outage for outage in problem.outages if outage.start > problem.now)
    return parts_of(assembly, ())._replace(
        # With the present capacities of shared resources.
        system=problem.system,
        predictor=RequestedTime(),
        predictor_name="requested-time",
        # The snapshot has left out what partitions do not let start, and bound the others.
        partitions=NO_PARTITIONS,
        outages=Outages(announced),
        uniform_request=None,
        kill_at_requested_time=False,
        latency=None,
        dependencies=False,
    )


def _columns(problem: DispatchingProblem, history: History) -> JobColumns:
    """Return the running jobs, then the queued ones, as those of a replay."""
    first = int(history.columns.job_id.max(initial=0)) + _APART
    before = problem.now - 1
    running = [
        TracedJob(_bound(one, first + k, before), max(one.predicted_end_time - before, 1))
        for k, one in enumerate(problem.running)
    ]
    waiting = [
        TracedJob(
            _queued(one.job, first + len(running) + k, problem.now, one.predicted_run_time),
            one.predicted_run_time,
        )
        for k, one in enumerate(problem.queue)
    ]
    return joined_columns((*columns_of([*running, *waiting], history.numbers),) or (NO_JOBS,))


def _branch(problem: DispatchingProblem, parts: Parts, columns: JobColumns) -> ReplayBranch:
    """Return the state of a replay before the round of the present instant."""
    ((_, branch, _),) = branches(parts, columns, [len(columns.job_id)])
    left = len(problem.running) - int((branch.present.start_time == problem.now - 1).sum())
    if left:
        raise InputError(
            Finding("not-replayed", f"{left} running jobs have no room beside the others")
        )
    branch.set_submit_times(
        np.array([min(one.submit_time, problem.now) for one in problem.queue], dtype=np.int64)
    )
    return branch


def _bound(one: RunningJob, number: int, submit_time: int) -> Job:
    """Return a running job as one that fits where it runs, and nowhere else."""
    waiting = one.waiting
    request = Request(
        units=one.units,
        unit_request=waiting.unit_request,
        allowed_nodes=frozenset(one.allocation.nodes),
        one_unit_per_node=True,
        shared_requests=waiting.job.request.shared_requests,
    )
    length = max(one.predicted_end_time - submit_time, 1)
    return Job(number, submit_time, request, length, waiting.job.user)


def _queued(job: Job, number: int, submit_time: int, requested_time: int) -> Job:
    """Return a queued job with another number and times, which waits for no other."""
    return job._replace(
        job_id=number, submit_time=submit_time, requested_time=max(requested_time, 1), after=()
    )


def _run_times(
    problem: DispatchingProblem,
    history: History,
    samples: int,
    draw: np.random.Generator,
) -> IntArray:
    """Return sampled run times of the replay's jobs, `[S, J]`, in seconds.

    Running jobs began a second before now in the replay; in truth they run for longer already.
    """
    jobs: list[Job] = [one.waiting.job for one in problem.running]
    jobs += [one.job for one in problem.queue]
    began = [one.start_time for one in problem.running]
    elapsed = [max(problem.now - start, 0) for start in began] + [0] * len(problem.queue)
    asked = [
        (NOBODY if job.user is None else job.user, max(job.requested_time, 1)) for job in jobs
    ]  # fmt: skip
    drawn = history.run_times.run_times(asked, elapsed, samples, draw)
    running = len(problem.running)
    drawn[:, :running] -= np.array(elapsed[:running], dtype=np.int64) - 1
    for k, one in enumerate(problem.running):
        # Nodes out of service are stand-ins with numbers below 0, whose end is known.
        if one.job_id < 0:
            drawn[:, k] = one.predicted_end_time - problem.now + 1
    return drawn


def _forecast(
    seen: Snapshot,
    found: StartForecast,
    keys: Mapping[int, str | None],
    quantiles: Sequence[float],
    samples: int,
) -> Forecast:
    problem = seen.problem
    starts = [found.quantile(share).tolist() for share in quantiles]
    jobs = tuple(
        ForecastJob(
            keys.get(one.job_id, str(one.job_id)),
            one.submit_time,
            one.units,
            one.job.requested_time,
            tuple(column[k] for column in starts),
        )
        for k, one in enumerate(problem.queue)
    )
    return Forecast(problem.now, tuple(quantiles), jobs, _running(problem), samples)


def _running(problem: DispatchingProblem) -> int:
    """Return the number of running jobs, without the stand-ins of nodes out of service."""
    return sum(one.job_id >= 0 for one in problem.running)
