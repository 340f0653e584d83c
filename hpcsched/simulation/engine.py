"""The engine: replays jobs against a system and a dispatcher, event by event.

At each instant: ends, then submissions, then one dispatching round if jobs wait. A decision is
checked before it is applied; nothing is repaired. A job of zero run time ends in the instant in
which it starts, which opens one more round of that instant if jobs still wait.

A round that is charged a latency takes simulated time. Jobs end and are submitted meanwhile, but
no other round begins; once its decision is carried out, the next round is due at once if anything
did. A decision can always be carried out late: nothing else starts jobs, so the room is still free.

Where partitions limit what a user may run, or jobs wait for others to end, the dispatcher is shown
the jobs that may start. If that is none, the round is held without it, so that it is known what
waited.

Where the system has pools, a round is held whenever one of them changes while jobs wait. A start
for which a pool has had too little since the decision was asked for is not carried out; its job
waits on.

Where there are outages, nodes come back and go out of service after the ends of an instant and
before its submissions. Jobs on nodes that go are put back into the queue, at their old places, or
leave as failed. Dispatchers are shown each job as one that may only use the nodes that are open to
it. A start on a node that has been closed since the decision was asked for is not carried out.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.errors import DecisionError, PluginError
from hpcsched.simulation.check import check_allocation, check_reasons
from hpcsched.simulation.dependencies import Dependencies
from hpcsched.simulation.downtime import Downtime
from hpcsched.simulation.foreseeing import EndsForeseen, Forecasts
from hpcsched.simulation.latency import LatencyAccount
from hpcsched.simulation.limits import Limits
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.occupancy import NodeOccupancy, Occupancy, idle_system
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.pool_accounts import OverdrawError, PoolAccounts
from hpcsched.simulation.records import (
    Interruption,
    JobRecord,
    JobState,
    RejectedBy,
    RoundRecord,
)
from hpcsched.simulation.telling import additional_data
from hpcsched.system.allocation import Allocation
from hpcsched.system.pools import NEVER
from hpcsched.system.space import OvercommitError
from hpcsched.workload.job import Job, TracedJob


class _Flight(NamedTuple):
    """The time from asking for a decision to carrying it out.

    `seconds` is how long it is, `changed` whether jobs ended or were submitted in it, and `lost`
    ∫ min(amount waited for, amount free) dt over it, by resource type, in amount × seconds.
    """

    seconds: int
    changed: bool
    lost: tuple[int, ...]


class Simulation:
    """One replay; `run` can be called once.

    `waiting` and `running` count the jobs in the system, also when it was `stopped`.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._system = parts.system
        uniform_request = None if parts.system.pools else parts.uniform_request
        self._occupancy: Occupancy = idle_system(parts.system, uniform_request)
        self._slot_map = self._occupancy.slot_map
        self._queue: dict[int, WaitingJob] = {}
        # What only the simulator knows of a job in the system: its run time here, and how it ends.
        self._fates: dict[int, tuple[int, JobState]] = {}
        self._waiting_units: Counter[tuple[int, ...]] = Counter()
        # By the end predicted at submission, which is the first field of a running job.
        self._running: list[RunningJob] = []
        self._ends: list[tuple[int, int, RunningJob, JobState]] = []
        self._trace: Iterator[TracedJob] = iter(())
        self._upcoming: TracedJob | None = None
        self._now = 0
        self._round = 0
        self._latency = None if parts.latency is None else LatencyAccount(parts.latency)
        partitions = parts.partitions
        self._limits = Limits(partitions, parts.system) if partitions else None
        self._dependencies = Dependencies() if parts.dependencies else None
        self._downtime = None
        if parts.outages.all:
            # Its room on nodes that are down is taken away, which slots do not know of.
            space = NodeOccupancy(parts.system)
            self._occupancy, self._slot_map = space, None
            self._downtime = Downtime(parts.outages, space)
        # Of each job that was put back into the queue, how often, and for how long it had run.
        self._lost: dict[int, tuple[int, int]] = {}
        self._pools = PoolAccounts(parts.system) if parts.system.pools else None
        # The last instant at which anything but what a pool offers changed.
        self._active = 0
        self._no_flight = _Flight(0, False, (0,) * len(parts.system.resource_types))
        self.stopped = False
        self._forecasts = Forecasts(parts.predictor)
        self._ends_foreseen = EndsForeseen(parts.correction)
        self._observe = parts.predictor.observe
        self._submitted = _handlers(parts.observers, "job_submitted")
        self._started = [
            *(follower.job_started for follower in parts.followers),
            *_handlers(parts.observers, "job_started"),
        ]
        self._interrupted = _handlers(parts.observers, "job_interrupted")
        self._followed_ends = [follower.job_ended for follower in parts.followers]
        self._ended = _handlers(parts.observers, "job_ended")
        self._rounds = _handlers(parts.observers, "round_ended")
        self._explained = _handlers(parts.observers, "reasons_given")

    @property
    def waiting(self) -> int:
        """The number of jobs in the queue."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """The number of running jobs."""
        return len(self._running)

    def stop(self) -> None:
        """End the replay when the present instant is over, with jobs left in the system.

        A decision that is due later is dropped; its jobs stay in the queue.
        """
        self.stopped = True

    def run(self, jobs: Iterator[TracedJob]) -> None:
        """Replay jobs that come by ascending submit time, until all have left or it is stopped.

        Raises DecisionError where a decision cannot be carried out or jobs wait for ever, and
        PluginError where a predictor fails or the jobs are out of order.
        """
        queue = self._queue
        self._trace = jobs
        self._upcoming = next(jobs, None)
        while self._step(inf):
            while queue and self._hold_round():
                pass
        if queue and not self.stopped:
            raise self._fault(
                f"nothing runs and nothing more is submitted, yet {len(queue)} jobs are left"
                f" waiting, the first of them job {next(iter(queue))}"
            )

    def _step(self, last: float) -> bool:
        """Go to the next instant of an end or a submission and have all of them happen.

        An instant counts too at which a job has waited long enough for another, an outage begins or
        ends, or a pool changes. Returns False if there is none up to and including the instant
        `last`, or if stopped.
        """
        ends, upcoming = self._ends, self._upcoming
        if ends and (upcoming is None or ends[0][0] <= upcoming[0].submit_time):
            now = ends[0][0]
        elif upcoming is not None:
            now = upcoming[0].submit_time
        else:
            now = None
        for other in self._other_instants():
            now = other if now is None else min(now, other)
        change = self._next_pool_change(alone=now is None)
        if change is not None and (now is None or change < now):
            now = change
        elif now is not None:
            self._active = now
        if now is None or now > last or self.stopped:
            return False
        self._now = now
        self._end_all()
        if self._downtime is not None:
            self._interrupt(self._downtime.pass_to(now))
        while upcoming is not None and upcoming[0].submit_time == now:
            self._submit(upcoming)
            self._upcoming = upcoming = next(self._trace, None)
        if upcoming is not None and upcoming[0].submit_time < now:
            job = upcoming[0]
            raise PluginError(
                f"trace source: job {job.job_id} is submitted at {job.submit_time},"
                f" before a job that was submitted at {now}"
            )
        return True

    def _other_instants(self) -> Iterator[int]:
        """Yield the next instants after now at which neither a job ends nor one is submitted."""
        if self._dependencies is not None and self._queue:
            release = self._dependencies.next_release(self._now)
            if release is not None:
                yield release
        if self._downtime is not None and (self._queue or self._running or self._upcoming):
            change = self._downtime.next_change
            if change is not None:
                yield change

    def _next_pool_change(self, *, alone: bool) -> int | None:
        """Return the next instant after now at which a pool changes, if it matters to the queue.

        If nothing else is to happen, it matters until all that pools offer has been seen.
        """
        if self._pools is None or not self._queue:
            return None
        change = self._pools.next_change(self._now)
        last = self._pools.all_seen_by(self._active) if alone else NEVER - 1
        return change if change <= last else None

    def _interrupt(self, nodes: frozenset[int]) -> None:
        """Have nodes go out of service: end what runs there, and put it back into the queue."""
        downtime = self._downtime
        assert downtime is not None
        lost = [job for job in self._running if not nodes.isdisjoint(job.allocation.nodes)]
        if lost:
            numbers = {job.job_id for job in lost}
            self._ends[:] = [end for end in self._ends if end[1] not in numbers]
            heapify(self._ends)
            for running in lost:
                self._lose(running, requeue=downtime.requeue)
        downtime.close(nodes)
        if lost and downtime.requeue:
            in_order = sorted(self._queue.values(), key=downtime.arrival)
            self._queue.clear()
            self._queue.update((job.job_id, job) for job in in_order)

    def _lose(self, running: RunningJob, *, requeue: bool) -> None:
        """End a job that has lost a node, and put it back into the queue if that is wanted."""
        waiting, job_id, now = running.waiting, running.job_id, self._now
        self._give_back(running)
        for follow in self._followed_ends:
            follow(running, now)
        told = Interruption(waiting.job, running.start_time, now, running.allocation, requeue)
        for tell in self._interrupted:
            tell(told)
        if not requeue:
            del self._fates[job_id]
            self._tell_of_end(running, now, "failed")
            return
        count, time = self._lost.get(job_id, (0, 0))
        self._lost[job_id] = count + 1, time + now - running.start_time
        self._queue[job_id] = waiting
        self._waiting_units[waiting.unit_request] += waiting.units

    def _end_all(self) -> bool:
        """End all jobs that end now; return whether there were any."""
        ends, now = self._ends, self._now
        if not ends or ends[0][0] != now:
            return False
        while ends and ends[0][0] == now:
            self._end(heappop(ends))
        return True

    def _submit(self, traced: TracedJob) -> None:
        job, run_time = traced
        if job.job_id in self._fates:
            raise PluginError(f"trace source: job {job.job_id} is in the system already")
        refused_by: RejectedBy | None = None
        if self._limits is not None:
            job, refused_by = self._limits.admit(job)
        state: JobState = "completed"
        if self._parts.kill_at_requested_time and run_time > job.requested_time:
            run_time, state = job.requested_time, "killed"
        waiting = WaitingJob(
            job.job_id,
            job.submit_time,
            job.units,
            job.unit_request,
            self._forecasts.of(job, run_time),
            self._system.demand(job.units, job.unit_request),
            job,
        )
        if refused_by is None and not self._fits_pools(waiting):
            refused_by = "over_pool"
        if refused_by is None:
            self._queue[job.job_id] = waiting
            if self._downtime is not None:
                self._downtime.arrived(job.job_id)
            self._fates[job.job_id] = run_time, state
            self._waiting_units[job.unit_request] += job.units
        if self._dependencies is not None:
            self._dependencies.submitted(job, self._now)
        elif job.after:
            raise PluginError(
                f"trace source: job {job.job_id} waits for others to end, and the source does not"
                " say that its jobs may (its attribute 'dependencies')"
            )
        for tell in self._submitted:
            tell(waiting)
        if refused_by is not None:
            self._reject(waiting, refused_by)

    def _fits_pools(self, waiting: WaitingJob) -> bool:
        """Say whether a job could ever run beside no other for all that pools offer."""
        pools = self._pools
        return pools is None or pools.admits(waiting.job, waiting.predicted_run_time)

    def _hold_round(self) -> bool:
        """Ask for a decision and carry it out; return whether another round is due at once."""
        asked, queued, running = self._now, len(self._queue), len(self._running)
        eligible = self._eligible()
        decision, decision_time = self._ask(eligible)
        flight: _Flight | None = self._no_flight
        if self._latency is not None and eligible:
            flight = self._await(self._latency.charge(len(eligible), decision, decision_time))
        if flight is None:
            return False
        decision = self._apply(asked, decision)
        if decision.starts:  # a job of no run time ends without an instant of its own
            self._active = self._now
        if self._rounds or self._explained:
            record = RoundRecord(
                self._round,
                asked,
                queued,
                running,
                len(decision.starts),
                len(decision.rejected),
                len(self._queue),
                self._waiting_amounts(),
                self._occupancy.free_amounts(),
                flight.seconds,
                flight.lost,
                decision_time,
                decision.fallback,
                decision.solver,
            )
            for tell in self._rounds:
                tell(record)
            for explain in self._explained:
                explain(record, (*decision.reasons, *self._held_reasons()))
        freed = self._frees()
        return self._end_all() or flight.changed or freed

    def _eligible(self) -> tuple[WaitingJob, ...]:
        """Return the queued jobs that neither others, outages nor limits hold back."""
        queue = tuple(self._queue.values())
        if self._dependencies is not None:
            queue = self._dependencies.eligible(queue, self._now)
        if self._downtime is not None:
            queue = self._downtime.eligible(queue, self._now)
        if self._limits is not None:
            queue = self._limits.eligible(queue)
        return queue if self._downtime is None else self._downtime.shown(queue)

    def _frees(self) -> bool:
        """Say whether a job that was held back in the last round would not be any more."""
        queue = tuple(self._queue.values())
        if self._dependencies is not None:
            if self._dependencies.frees(queue, self._now):
                return True
            held = self._dependencies.held
            queue = tuple([job for job in queue if job.job_id not in held])
        if self._downtime is not None:
            down = self._downtime.held
            queue = tuple([job for job in queue if job.job_id not in down])
        return self._limits is not None and self._limits.frees(queue)

    def _held_reasons(self) -> Iterator[Reason]:
        """Yield why each job waits that dispatchers were not shown in the last round."""
        if self._dependencies is not None:
            yield from self._dependencies.reasons()
        if self._downtime is not None:
            yield from self._downtime.reasons()
        if self._limits is not None:
            yield from self._limits.reasons()

    def _ask(self, queue: tuple[WaitingJob, ...]) -> tuple[Decision, float]:
        """Return the dispatcher's decision, and the real seconds that it took.

        Of an empty queue it is not asked.
        """
        self._round += 1
        if not queue:
            return NOTHING, 0.0
        problem = DispatchingProblem(
            self._now,
            self._round,
            queue,
            self._ends_foreseen.of(self._running, self._now),
            self._system,
            self._parts.objective,
            *self._occupancy.snapshot(),
            explain=bool(self._explained),
            outages=() if self._downtime is None else self._downtime.announced,
            additional=additional_data(self._parts.givers, self._now),
        )
        began = perf_counter()
        try:
            decision = self._parts.dispatcher.dispatch(problem)
        except Exception as error:
            raise self._fault(f"raised {type(error).__name__}: {error}") from error
        decision_time = perf_counter() - began
        if not isinstance(decision, Decision) or not isinstance(decision.starts, tuple):
            raise self._fault(f"expected a decision with a tuple of starts, found {decision!r}")
        if decision.reasons:
            try:
                check_reasons(decision.reasons, problem.queue)
            except ValueError as error:
                raise self._fault(str(error)) from None
        return decision, decision_time

    def _await(self, seconds: int) -> _Flight | None:
        """Let time pass until a decision is due; None if the replay is stopped before that."""
        if not seconds:
            return self._no_flight
        due = self._now + seconds
        changed, lost = False, self._no_flight.lost
        while self._now < due:
            since, idle = self._now, self._idle_amounts()
            if self._step(due):
                changed = True
            elif self.stopped:
                return None
            else:
                self._now = due
            passed = self._now - since
            lost = tuple([sum_ + amount * passed for sum_, amount in zip(lost, idle, strict=True)])
        return _Flight(seconds, changed, lost)

    def _apply(self, asked: int, decision: Decision) -> Decision:
        """Carry a decision out that was asked for at a time; return what of it was."""
        postponed = {
            start.job_id: detail
            for start in decision.starts
            if (detail := self._start(asked, start)) is not None
        }
        for job_id in decision.rejected:
            waiting = self._leave_queue(job_id)
            del self._fates[job_id]
            self._reject(waiting, "dispatcher")
        if not postponed:
            return decision
        return decision._replace(
            starts=tuple(start for start in decision.starts if start.job_id not in postponed),
            reasons=tuple(
                Reason(reason.job_id, "limit", detail=postponed[reason.job_id])
                if reason.job_id in postponed
                else reason
                for reason in decision.reasons
            ),
        )

    def _reject(self, waiting: WaitingJob, by: RejectedBy) -> None:
        """Tell observers of a job that leaves the system without having run."""
        if self._dependencies is not None:
            self._dependencies.left(waiting.job_id, self._now)
        if self._downtime is not None:
            self._downtime.left(waiting.job_id)
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            "rejected",
            None,
            None,
            None,
            by,
            *self._lost.pop(waiting.job_id, (0, 0)),
        )
        for tell in self._ended:
            tell(record)

    def _start(self, asked: int, start: Start) -> str | None:
        """Start a job; or return why not, if a pool has less than when that was `asked` for."""
        now = self._now
        try:
            job_id, allocation = start
        except (TypeError, ValueError):
            raise self._fault(f"expected starts in the decision, found {start!r}") from None
        waiting = self._waiting_job(job_id)
        try:
            checked = check_allocation(self._system, allocation, waiting.job, self._slot_map)
            less = self._pool_that_fell(asked, checked, waiting.job)
            less = less or self._node_that_closed(asked, checked, waiting)
            if less is not None:
                return less
            allocation = self._occupancy.claim(checked, waiting.job)
        except OverdrawError as error:
            raise self._fault(f"job {job_id}, {error}") from None
        except OvercommitError as error:
            node = self._system.node_name(error.node)
            raise self._fault(f"job {job_id}, node {node}: {error}") from None
        except ValueError as error:
            raise self._fault(f"job {job_id}: {error}") from None
        self._leave_queue(job_id)
        if self._pools is not None:
            self._pools.started(allocation, waiting.job)
        run_time, state = self._fates[job_id]
        running = RunningJob(
            now + waiting.predicted_run_time, job_id, now, waiting.units, allocation, waiting
        )
        insort(self._running, running)
        heappush(self._ends, (now + run_time, job_id, running, state))
        if self._limits is not None:
            self._limits.started(running)
        if self._dependencies is not None:
            self._dependencies.started(job_id)
        if self._downtime is not None:
            self._downtime.started(job_id)
        for tell in self._started:
            tell(running)
        return None

    def _pool_that_fell(self, asked: int, allocation: Allocation, job: Job) -> str | None:
        """Return the pool that lets a job not start any more, in words; None if all do.

        Raises OverdrawError if it did not let it start either when that was `asked` for.
        """
        if self._pools is None:
            return None
        try:
            self._pools.check(self._now, allocation, job)
        except OverdrawError as error:
            self._pools.check(asked, allocation, job)
            return f"{error} since the decision was asked for"
        return None

    def _node_that_closed(
        self, asked: int, allocation: Allocation, waiting: WaitingJob
    ) -> str | None:
        """Return why a node is not open to a job any more, in words; None if all are.

        Raises ValueError if it was not open either when the decision was `asked` for.
        """
        if self._downtime is None:
            return None
        obstacle = self._downtime.obstacle(waiting, allocation, self._now)
        if self._downtime.was_open(waiting, allocation):
            return obstacle
        raise ValueError(obstacle or "a node was out of service when the decision was asked for")

    def _end(self, end: tuple[int, int, RunningJob, JobState]) -> None:
        end_time, job_id, running, state = end
        waiting = running.waiting
        del self._fates[job_id]
        self._give_back(running)
        try:
            self._observe(waiting.job, end_time - running.start_time)
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise self._forecasts.fault(waiting.job, what) from error
        for follow in self._followed_ends:
            follow(running, end_time)
        self._tell_of_end(running, end_time, state)

    def _give_back(self, running: RunningJob) -> None:
        """Have a job run no longer: give back all that it holds."""
        job = running.waiting.job
        del self._running[bisect_left(self._running, running)]
        self._ends_foreseen.forget(job.job_id)
        self._occupancy.release(running.allocation, job)
        if self._pools is not None:
            self._pools.ended(running.allocation, job)
        if self._limits is not None:
            self._limits.ended(running)

    def _tell_of_end(self, running: RunningJob, end_time: int, state: JobState) -> None:
        """Tell of a job that has run and leaves the system."""
        waiting, job_id = running.waiting, running.job_id
        if self._dependencies is not None:
            self._dependencies.left(job_id, self._now)
        if self._downtime is not None:
            self._downtime.left(job_id)
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            state,
            running.start_time,
            end_time,
            running.allocation,
            None,
            *self._lost.pop(job_id, (0, 0)),
        )
        for tell in self._ended:
            tell(record)

    def _waiting_job(self, job_id: int) -> WaitingJob:
        """Return a job of the queue that may be decided on."""
        if self._limits is not None and job_id in self._limits.held:
            raise self._fault(f"job {job_id} is held back: {self._limits.held[job_id]}")
        if self._dependencies is not None and job_id in self._dependencies.held:
            raise self._fault(f"job {job_id} is held back until others have ended")
        if self._downtime is not None and job_id in self._downtime.held:
            raise self._fault(f"job {job_id} is held back: {self._downtime.held[job_id]}")
        waiting = self._queue.get(job_id)
        if waiting is None:
            raise self._fault(f"job {job_id} is not waiting, or was decided on twice")
        return waiting

    def _leave_queue(self, job_id: int) -> WaitingJob:
        """Take a job that may be decided on out of the queue."""
        waiting = self._waiting_job(job_id)
        del self._queue[job_id]
        self._waiting_units[waiting.unit_request] -= waiting.units
        return waiting

    def _waiting_amounts(self) -> tuple[int, ...]:
        """Return what the queued jobs ask for, by resource type."""
        amounts = [0] * len(self._system.resource_types)
        for request, units in self._waiting_units.items():
            for r, amount in enumerate(request):
                amounts[r] += amount * units
        return tuple(amounts)

    def _idle_amounts(self) -> tuple[int, ...]:
        """Return how much of each resource type is free although it is waited for."""
        return tuple(map(min, self._waiting_amounts(), self._occupancy.free_amounts()))

    def _fault(self, what: str) -> DecisionError:
        return DecisionError(
            f"dispatcher {self._parts.dispatcher_name}, round {self._round}: {what}"
        )


def _handlers(observers: Sequence[Observer], event: str) -> list[Callable[..., None]]:
    """Return the observers' methods for an event, without those that do nothing."""
    return [
        getattr(observer, event)
        for observer in observers
        if getattr(type(observer), event) is not getattr(Observer, event)
    ]
