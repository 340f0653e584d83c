"""Jobs of a cluster from look to look: notification of observers, and predictions of run times."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from hpcsched.dispatching.problem import JobEventObserver, RunningJob, WaitingJob, waiting_job
from hpcsched.errors import PluginError
from hpcsched.prediction.predictor import Oracle, Predictor, PredictorDriver
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord
from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched.system.space import NodeAllocation
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.trace_source import TraceAccount
from hpcsched_slurm.live.site import Site
from hpcsched_slurm.live.snapshot import NoPlaceError, job_of

_NOT_KNOWN = 0
"""Stand-in for the run time of a job that has not ended; only an oracle is shown run times."""


class Predictions:
    """Predicted run time of every job, asked for when the job is first seen.

    A prediction stands, also where the predictor has learnt since, as in a simulation.

    Raises
    ------
    PluginError
        If the predictor fails; messages name it by `name`, or by its class.
    """

    def __init__(self, predictor: Predictor | Oracle, name: str | None = None) -> None:
        if isinstance(predictor, Oracle):
            raise PluginError("a predictor that is shown run times cannot be asked about a cluster")
        self._predictor = PredictorDriver(predictor, name)
        self._seconds: dict[int, int] = {}

    def of(self, job: Job) -> int:
        """Return the predicted run time of a job, in seconds, at least 1."""
        known = self._seconds.get(job.job_id)
        if known is None:
            known = self._predictor.predict(job, _NOT_KNOWN)
            # Kept, since predictors may count the jobs that they are asked about.
            self._seconds[job.job_id] = known
        return known

    def learn(self, job: Job, run_time: int) -> None:
        """Notify the predictor of a completion, and forget the prediction."""
        self._predictor.observe(job, run_time)
        self.forget(job.job_id)

    def forget(self, job_id: int) -> None:
        """Forget a job that will not be asked about any more."""
        self._seconds.pop(job_id, None)

    def learn_history(self, jobs: Iterator[TracedJob], origin: int) -> int:
        """Learn from earlier jobs; return their number.

        They are predicted as they are submitted, and end as if none had waited, since some
        predictors count the jobs in the system.

        Parameters
        ----------
        jobs
            Jobs by ascending submit time, in seconds since 1970.
        origin
            Origin of times of the site, in the same seconds.
        """
        ends: list[tuple[int, int, Job, int]] = []
        count = 0
        for traced, run_time in jobs:
            job = traced._replace(submit_time=traced.submit_time - origin)
            while ends and ends[0][0] <= job.submit_time:
                self.learn(*heappop(ends)[2:])
            self.of(job)
            # The count breaks ties, so that jobs, which have no order, are never compared.
            heappush(ends, (job.submit_time + run_time, count, job, run_time))
            count += 1
        while ends:
            self.learn(*heappop(ends)[2:])
        return count


@dataclass
class _Followed:
    """A followed job, and its last known state."""

    waiting: WaitingJob
    counted: bool
    running: RunningJob | None = None


class Following:
    """Jobs of a site's partitions, those in the system and those that have left it.

    The account counts the jobs that were seen waiting here, or that an earlier driver started
    (`ours`, by key): these become records. Jobs that ran before are followed, so that predictors
    learn from them. `started_at` holds the seen starts, by job number, in seconds.
    """

    def __init__(
        self,
        site: Site,
        predictions: Predictions,
        observers: Sequence[Observer],
        followers: Sequence[JobEventObserver],
        ours: Collection[str] = (),
    ) -> None:
        self.site = site
        self._predictions = predictions
        self._observers = observers
        self._followers = followers
        self._ours = frozenset(ours)
        self._jobs: dict[int, _Followed] = {}
        self._gone: set[int] = set()
        self._first = True
        self.account = TraceAccount()
        self.started_at: dict[int, int] = {}
        self.nodes_of: dict[int, tuple[str, ...]] = {}

    @property
    def waiting(self) -> int:
        """Number of counted jobs that wait."""
        return sum(job.counted and job.running is None for job in self._jobs.values())

    @property
    def running(self) -> int:
        """Number of counted jobs that run."""
        return sum(job.counted and job.running is not None for job in self._jobs.values())

    def update(self, state: ClusterState, now: int) -> None:
        """Read the state of a cluster at `now`, in seconds since the origin."""
        present = set()
        for job in state.jobs:
            if not self.site.has(job):
                continue
            present.add(job.job_id)
            if job.phase == "ended":
                self._end(job, now)
            elif job.phase == "running":
                self._run(job, now)
            else:
                self._wait(job, now)
        for job_id in self._jobs.keys() - present:
            self._vanish(job_id, now)
        self._gone &= present
        self._first = False

    def _enter(self, job: ClusterJob, *, counted: bool) -> _Followed | None:
        found = self._jobs.get(job.job_id)
        if found is not None or job.job_id in self._gone:
            return found
        try:
            wanted = job_of(job, self.site)
        except NoPlaceError:
            return None
        # Asked as soon as the job is seen, with what the predictor knows then, as in a simulation.
        waiting = waiting_job(wanted, self._predictions.of(wanted), self.site.system)
        found = self._jobs[job.job_id] = _Followed(waiting, counted)
        if counted:
            self.account.read += 1
            self.account.submitted += 1
            for observer in self._observers:
                observer.job_submitted(waiting)
        return found

    def _wait(self, job: ClusterJob, now: int) -> None:
        self._gone.discard(job.job_id)
        found = self._enter(job, counted=True)
        if found is not None and found.running is not None:  # put back into the queue
            for follower in self._followers:
                follower.job_ended(found.running, now)
            found.running = None

    def _run(self, job: ClusterJob, now: int) -> None:
        # A job that ran before the first look has a start that no dispatcher here decided.
        counted = not self._first or job.key in self._ours
        found = self._enter(job, counted=counted)
        if found is None or found.running is not None:
            return
        numbers = self.site.numbers
        nodes = tuple(sorted(numbers[name] for name in job.placed if name in numbers))
        if not nodes:
            return
        start = now if job.start_time is None else self.site.time(job.start_time)
        waiting = found.waiting
        if len(nodes) != waiting.units:  # the cluster gave it more nodes than it needs
            request = waiting.request._replace(units=len(nodes), one_unit_per_node=len(nodes) > 1)
            own, predicted = waiting.job._replace(request=request), waiting.predicted_run_time
            waiting = found.waiting = waiting_job(own, predicted, self.site.system)
        found.running = RunningJob(
            start + waiting.predicted_run_time,
            job.job_id,
            start,
            len(nodes),
            NodeAllocation(nodes, (1,) * len(nodes)),
            waiting,
        )
        self.started_at[job.job_id] = start
        self.nodes_of[job.job_id] = tuple(self.site.names[node] for node in nodes)
        for follower in self._followers:
            follower.job_started(found.running)
        if found.counted:
            for observer in self._observers:
                observer.job_started(found.running)

    def _end(self, job: ClusterJob, now: int) -> None:
        if job.job_id in self._gone or (self._first and job.key not in self._ours):
            self._gone.add(job.job_id)
            return
        # Observers must hear of a start before the end, also where both lie between two looks.
        if job.start_time is not None and job.placed:
            self._run(job, now)  # which may have been between two looks
        self._gone.add(job.job_id)
        found = self._jobs.pop(job.job_id, None)
        if found is None:
            return
        if job.ending == "cancelled" or found.running is None:
            self._cancel(found)
            return
        end = now if job.end_time is None else self.site.time(job.end_time)
        self._finish(found, found.running, end, killed=job.ending == "killed")

    def _vanish(self, job_id: int, now: int) -> None:
        """End a job that the cluster has forgotten before its end was seen."""
        found = self._jobs.pop(job_id)
        if found.running is None:
            self._cancel(found)
        else:
            self._finish(found, found.running, now, killed=False)

    def _cancel(self, found: _Followed) -> None:
        self._predictions.forget(found.waiting.job_id)
        if found.counted:
            self.account.submitted -= 1
            self.account.skipped["cancelled"] += 1

    def _finish(self, found: _Followed, running: RunningJob, end: int, *, killed: bool) -> None:
        # Where no start was told it is the second of the look, which the end may precede.
        end = max(end, running.start_time)
        waiting = found.waiting
        self._predictions.learn(waiting.job, end - running.start_time)
        for follower in self._followers:
            follower.job_ended(running, end)
        if not found.counted:
            return
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            "killed" if killed else "completed",
            running.start_time,
            end,
            running.allocation,
        )
        for observer in self._observers:
            observer.job_ended(record)
