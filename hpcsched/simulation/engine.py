"""The engine: replays jobs against a system and a dispatcher, event by event.

At each instant: ends, then submissions, then one dispatching round if jobs wait. A decision is
checked when it is given (see `check`), before it is applied; nothing is repaired. A job of zero run
time ends in the instant in which it starts, which opens one more round of that instant if jobs
still wait.

A round that is charged a latency takes simulated time. Jobs end and are submitted meanwhile, but
no other round begins; once its decision is carried out, the next round is due at once if anything
did. A decision can always be carried out late: nothing else starts jobs, so the room is still free.

More than room may be needed to start a job (see `start_conditions`). Where partitions limit what a
user may run, or jobs wait for others to end, the dispatcher is shown the jobs that may start. If
that is none, the round is held without it, so that it is known what waited.

Where the system has pools, a round is held whenever one of them changes while jobs wait. A start
for which a pool has had too little since the decision was asked for is not carried out; its job
waits on.

Where there are outages, nodes come back and go out of service after the ends of an instant and
before its submissions. Jobs on nodes that go are put back into the queue, at their old places, or
leave as failed. Dispatchers are shown each job as one that may only use the nodes that are open to
it. A start on a node that has been closed since the decision was asked for is not carried out.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from math import inf
from time import perf_counter

from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.problem import (
    DispatchingProblem,
    RunningJob,
    WaitingJob,
    waiting_job,
)
from hpcsched.dispatching.reasons import Reason
from hpcsched.errors import DecisionError, PluginError
from hpcsched.prediction.driver import PredictorDriver
from hpcsched.simulation.check import BadDecisionError, check_decision
from hpcsched.simulation.downtime import NOTHING_LOST, Downtime
from hpcsched.simulation.foreseeing import EndsForeseen
from hpcsched.simulation.latency import Flight, LatencyAccount
from hpcsched.simulation.listeners import listeners
from hpcsched.simulation.occupancy import NodeOccupancy, Occupancy, idle_system
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Interruption, JobRecord, JobState, RejectedBy, RoundRecord
from hpcsched.simulation.start_conditions import start_conditions
from hpcsched.simulation.stranded import Stranded, why_stranded
from hpcsched.simulation.telling import additional_data
from hpcsched.workload.job import TracedJob
from hpcsched.workload.time_bounds import within_bounds


class Simulation:
    """One replay; `run` can be called once.

    `waiting` and `running` count the jobs in the system, also when it was `stopped`.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._system = parts.system
        self._downtime: Downtime | None = None
        self._occupancy: Occupancy
        if parts.outages.all:
            # The room on nodes that are down is taken away, which slots do not know of.
            self._occupancy = space = NodeOccupancy(parts.system)
            self._downtime = Downtime(parts.outages, space)
        else:
            uniform_request = None if parts.system.pools else parts.uniform_request
            self._occupancy = idle_system(parts.system, uniform_request)
        self._slot_map = self._occupancy.slot_map
        self._conditions = start_conditions(parts, self._downtime)
        self._queue: dict[int, WaitingJob] = {}
        # What only the simulator knows of a job in the system: its run time here, and how it ends.
        self._fates: dict[int, tuple[int, JobState]] = {}
        self._waiting_amounts = (0,) * len(parts.system.resource_types)
        # By the end predicted at submission, which is the first field of a running job.
        self._running: list[RunningJob] = []
        self._ends: list[tuple[int, int, RunningJob, JobState]] = []
        self._trace: Iterator[TracedJob] = iter(())
        self._upcoming: TracedJob | None = None
        self._now = 0
        self._round = 0
        self._latency = None if parts.latency is None else LatencyAccount(parts.latency)
        self._stranded = Stranded()
        self._no_flight = Flight(0, False, (0,) * len(parts.system.resource_types))
        self.stopped = False
        self._predictor = PredictorDriver(parts.predictor, parts.predictor_name)
        self._ends_foreseen = EndsForeseen(parts.correction)
        self._tell = listeners(parts.observers, parts.followers)

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

        Raises DecisionError where a decision cannot be carried out or jobs wait for ever,
        PluginError where a predictor fails or the jobs are out of order, and InputError for times
        beyond `hpcsched.workload.time_bounds`.
        """
        queue = self._queue
        self._trace = within_bounds(jobs)
        self._upcoming = next(self._trace, None)
        while self._step(inf):
            while queue and self._hold_round():
                pass
        if queue and not self.stopped:
            held = () if self._conditions is None else self._conditions.reasons()
            why = why_stranded(tuple(queue.values()), held, self._stranded, self._system)
            raise self._fault(
                f"nothing runs and nothing more is submitted, yet {len(queue)} jobs are left"
                f" waiting: {why}"
            )

    def _step(self, last: float) -> bool:
        """Go to the next instant of an end or a submission and have all of them happen.

        An instant counts too at which a condition changes under which jobs may start. Returns False
        if there is none up to and including the instant `last`, or if stopped.
        """
        ends, upcoming = self._ends, self._upcoming
        if ends and (upcoming is None or ends[0][0] <= upcoming[0].submit_time):
            now = ends[0][0]
        elif upcoming is not None:
            now = upcoming[0].submit_time
        else:
            now = None
        if self._conditions is not None:
            now = self._conditions.next_instant(self._now, now, waiting=bool(self._queue))
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
                self._lose(running, downtime)
        downtime.close(nodes)
        if lost and downtime.requeue:
            in_order = downtime.by_arrival(self._queue.values())
            self._queue.clear()
            self._queue.update((job.job_id, job) for job in in_order)

    def _lose(self, running: RunningJob, downtime: Downtime) -> None:
        """End a job that has lost a node, and put it back into the queue if that is wanted."""
        waiting, job_id, now = running.waiting, running.job_id, self._now
        requeue = downtime.requeue
        self._give_back(running)
        for follow in self._tell.followed_ends:
            follow(running, now)
        told = Interruption(waiting.job, running.start_time, now, running.allocation, requeue)
        for tell in self._tell.interrupted:
            tell(told)
        if not requeue:
            del self._fates[job_id]
            self._leave(waiting, "failed", running, now)
            return
        downtime.requeued(job_id, now - running.start_time)
        self._queue[job_id] = waiting
        self._count_waiting(waiting, 1)

    def _end_all(self) -> bool:
        """End all jobs that end now; return whether there were any."""
        ends, now = self._ends, self._now
        if not ends or ends[0][0] != now:
            return False
        while ends and ends[0][0] == now:
            self._end(heappop(ends))
        return True

    def _submit(self, traced: TracedJob) -> None:
        self._stranded.clear()
        job, run_time = traced
        if job.job_id in self._fates:
            raise PluginError(f"trace source: job {job.job_id} is in the system already")
        conditions = self._conditions
        refused_by: RejectedBy | None = None
        if conditions is not None:
            job, refused_by = conditions.admit(job)
        state: JobState = "completed"
        if self._parts.kill_at_requested_time and run_time > job.requested_time:
            run_time, state = job.requested_time, "killed"
        waiting = waiting_job(job, self._predictor.predict(job, run_time), self._system)
        if conditions is not None:
            if refused_by is None and not conditions.fits_pools(waiting):
                refused_by = "over_pool"
            conditions.submitted(waiting, self._now, queued=refused_by is None)
        if refused_by is None:
            self._queue[job.job_id] = waiting
            self._fates[job.job_id] = run_time, state
            self._count_waiting(waiting, 1)
        if job.after and not self._parts.dependencies:
            raise PluginError(
                f"trace source: job {job.job_id} waits for others to end, and the source does not"
                " say that its jobs may (its attribute 'dependencies')"
            )
        for tell in self._tell.submitted:
            tell(waiting)
        if refused_by is not None:
            self._leave(waiting, "rejected", rejected_by=refused_by)

    def _hold_round(self) -> bool:
        """Ask for a decision and carry it out; return whether another round is due at once."""
        asked, queued, running = self._now, len(self._queue), len(self._running)
        conditions, eligible = self._conditions, tuple(self._queue.values())
        if conditions is not None:
            eligible = conditions.eligible(eligible, asked)
        self._stranded.asked.append(asked)
        decision, decision_time = self._ask(eligible)
        flight: Flight | None = self._no_flight
        if self._latency is not None and eligible:
            flight = self._await(self._latency.charge(len(eligible), decision, decision_time))
        if flight is None:
            return False
        decision = self._apply(asked, decision)
        if self._tell.rounds or self._tell.explained:
            record = RoundRecord(
                self._round,
                asked,
                queued,
                running,
                len(decision.starts),
                len(decision.rejected),
                len(self._queue),
                self._waiting_amounts,
                self._occupancy.free_amounts(),
                flight.seconds,
                flight.lost,
                decision_time,
                decision.fallback,
                decision.solver,
                decision.chosen,
                decision.because,
            )
            for tell in self._tell.rounds:
                tell(record)
            for explain in self._tell.explained:
                held = () if conditions is None else conditions.reasons()
                explain(record, (*decision.reasons, *held))
        freed = conditions is not None and conditions.frees(tuple(self._queue.values()), self._now)
        return self._end_all() or flight.changed or freed

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
            explain=bool(self._tell.explained),
            outages=() if self._downtime is None else self._downtime.announced,
            additional=additional_data(self._parts.givers, self._now),
        )
        began = perf_counter()
        try:
            decision = self._parts.dispatcher.dispatch(problem)
        except Exception as error:
            raise self._fault(f"raised {type(error).__name__}: {error}") from error
        decision_time = perf_counter() - began
        try:
            check_decision(problem, decision, self._conditions)
        except BadDecisionError as error:
            raise self._fault(str(error)) from None
        return decision, decision_time

    def _await(self, seconds: int) -> Flight | None:
        """Let time pass until a decision is due; None if the replay is stopped before that."""
        if not seconds:
            return self._no_flight
        due = self._now + seconds
        changed, lost = False, self._no_flight.lost
        while self._now < due:
            since = self._now
            idle = tuple(map(min, self._waiting_amounts, self._occupancy.free_amounts()))
            if self._step(due):
                changed = True
            elif self.stopped:
                return None
            else:
                self._now = due
            passed = self._now - since
            lost = tuple([sum_ + amount * passed for sum_, amount in zip(lost, idle, strict=True)])
        return Flight(seconds, changed, lost)

    def _apply(self, asked: int, decision: Decision) -> Decision:
        """Carry a decision out that was asked for at a time; return what of it was."""
        postponed = {
            start.job_id: detail
            for start in decision.starts
            if (detail := self._start(asked, start)) is not None
        }
        for job_id in decision.rejected:
            waiting = self._queue[job_id]
            self._leave_queue(waiting)
            del self._fates[job_id]
            self._leave(waiting, "rejected", rejected_by="dispatcher")
        if not postponed:
            return decision
        self._stranded.late.update(postponed)
        return decision._replace(
            starts=tuple(start for start in decision.starts if start.job_id not in postponed),
            reasons=tuple(
                Reason(reason.job_id, "limit", detail=postponed[reason.job_id])
                if reason.job_id in postponed
                else reason
                for reason in decision.reasons
            ),
        )

    def _start(self, asked: int, start: Start) -> str | None:
        """Start a job; or return why not, if what it needs is gone since that was `asked` for."""
        now, conditions = self._now, self._conditions
        job_id, allocation = start
        waiting = self._queue[job_id]
        if conditions is not None and now > asked:
            obstacle = conditions.obstacle(waiting, allocation, now)
            if obstacle is not None:
                return obstacle
        allocation = self._occupancy.claim(allocation, waiting.request)
        self._leave_queue(waiting)
        self._stranded.clear()
        run_time, state = self._fates[job_id]
        running = RunningJob(
            now + waiting.predicted_run_time, job_id, now, waiting.units, allocation, waiting
        )
        insort(self._running, running)
        heappush(self._ends, (now + run_time, job_id, running, state))
        if conditions is not None:
            conditions.started(running)
        for tell in self._tell.started:
            tell(running)
        return None

    def _end(self, end: tuple[int, int, RunningJob, JobState]) -> None:
        end_time, job_id, running, state = end
        waiting = running.waiting
        del self._fates[job_id]
        self._give_back(running)
        self._predictor.observe(waiting.job, end_time - running.start_time)
        for follow in self._tell.followed_ends:
            follow(running, end_time)
        self._leave(waiting, state, running, end_time)

    def _give_back(self, running: RunningJob) -> None:
        """Have a job run no longer: give back all that it holds."""
        self._stranded.clear()
        del self._running[bisect_left(self._running, running)]
        self._ends_foreseen.forget(running.job_id)
        self._occupancy.release(running.allocation, running.waiting.request)
        if self._conditions is not None:
            self._conditions.released(running)

    def _leave(
        self,
        waiting: WaitingJob,
        state: JobState,
        ran: RunningJob | None = None,
        end_time: int | None = None,
        rejected_by: RejectedBy | None = None,
    ) -> None:
        """Have a job leave the system, in which it `ran` or not, and tell observers of it."""
        lost = NOTHING_LOST
        if self._conditions is not None:
            lost = self._conditions.left(waiting.job_id, self._now)
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            state,
            None if ran is None else ran.start_time,
            end_time,
            None if ran is None else ran.allocation,
            rejected_by,
            *lost,
        )
        for tell in self._tell.ended:
            tell(record)

    def _leave_queue(self, waiting: WaitingJob) -> None:
        """Take a job out of the queue."""
        del self._queue[waiting.job_id]
        self._count_waiting(waiting, -1)

    def _count_waiting(self, waiting: WaitingJob, sign: int) -> None:
        """Add what a job asks for to what is waited for (sign 1), or take it off (-1)."""
        units, before = sign * waiting.units, self._waiting_amounts
        asked = zip(before, waiting.unit_request, strict=True)
        self._waiting_amounts = tuple([amount + units * each for amount, each in asked])

    def _fault(self, what: str) -> DecisionError:
        return DecisionError(
            f"dispatcher {self._parts.dispatcher_name}, round {self._round}: {what}"
        )
