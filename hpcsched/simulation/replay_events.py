"""Events of a replay as records, for everything in Python that follows single events.

The loop writes its events down in order. They are read whenever it returns.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import NEVER, EventKind, State
from hpcsched.dispatching.decision import NOTHING, Decision, Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob, waiting_job
from hpcsched.simulation.check import OverdrawError, SharedResourceAccounts
from hpcsched.simulation.observer import additional_data, listeners
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import (
    FAILED,
    REFUSALS,
    REQUEUED,
    Interruption,
    JobRecord,
    JobState,
    RejectedBy,
    RoundRecord,
    RoundRemarks,
    by_node,
)
from hpcsched.simulation.replay_eligibility import ReplayEligibility
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob, shown_job


class LateStarts:
    """Explanations of starts that were decided but not carried out."""

    def __init__(self, parts: Parts) -> None:
        self._outages = OutageReasons(parts.outages, parts.system)
        self._shared_resources: SharedResourceAccounts | None = None
        if parts.system.shared_resources and parts.latency is not None:
            self._shared_resources = SharedResourceAccounts(parts.system)

    def started(self, running: RunningJob) -> None:
        """Record a start."""
        if self._shared_resources is not None:
            self._shared_resources.started(running.allocation, running.waiting.request)

    def stopped(self, running: RunningJob) -> None:
        """Record the end of an attempt."""
        if self._shared_resources is not None:
            self._shared_resources.ended(running.allocation, running.waiting.request)

    def why(self, waiting: WaitingJob, allocation: NodeAllocation, now: int, state: State) -> str:
        """Return why a decided start is not carried out, in words."""
        if self._shared_resources is not None:
            try:
                self._shared_resources.check(now, allocation, waiting.request)
            except OverdrawError as error:
                return f"{error} since the decision was asked for"
        closed = (self._outages.closed_to(waiting, node, now, state) for node in allocation.nodes)
        return next(why for why in closed if why is not None)


_MOST_NAMES = 3


class OutageReasons:
    """Explanations from all outages of a replay, and its state."""

    def __init__(self, outages: Outages, system: System) -> None:
        self._system = system
        self._all = outages.all
        self._announced = sorted(outage for outage in outages.all if outage.announced)
        # Outages that are announced and not over, until the next begin or end of any.
        self._known: tuple[Outage, ...] = ()
        self._known_until = -1

    def announced(self, now: int) -> tuple[Outage, ...]:
        """Return the outages that are announced and not over, by start.

        Nodes that have failed are left out: their return is not known.
        """
        if now >= self._known_until:
            failures = (
                one for one in self._all if not one.announced and one.start <= now < one.end
            )
            failed = {node for one in failures for node in one.nodes}
            times = (time for one in self._all for time in (one.start, one.end) if time > now)
            self._known_until = min(times, default=NEVER)
            self._known = tuple([
                outage._replace(nodes=tuple([n for n in outage.nodes if n not in failed]))
                for outage in self._announced
                if outage.end > now
            ])  # fmt: skip
        return self._known

    def closing(
        self, waiting: WaitingJob, now: int, state: State, *, announced: bool = False
    ) -> str:
        """Return the outages, or announced ones, that leave too few nodes to a job now."""
        clear_until = state.clear_until
        end = now + waiting.predicted_run_time
        among = self._announced if announced else self._all
        current = (outage for outage in among if outage.start <= now < outage.end)
        names = dict.fromkeys(outage.label for outage in current)
        for outage in self._announced:
            begins = now < outage.start < end
            if begins and (clear_until[list(outage.nodes)] == outage.start).any():
                names.setdefault(outage.label)
        return _first_outage(names)

    def closed_to(self, waiting: WaitingJob, node: int, now: int, state: State) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is open."""
        if not self._all:
            return None
        end, name = now + waiting.predicted_run_time, self._system.node_name(node)
        clear_until = int(state.clear_until[node])
        if state.down[node]:
            return f"node {name} is out of service"
        if clear_until < min(end, NEVER):
            return (
                f"node {name} goes out of service at {clear_until}, and the job is predicted to"
                f" end at {end}"
            )
        return None


def _first_outage(names: Iterable[str]) -> str:
    """Return the first few names, and the number of others."""
    names = list(names)
    shown, more = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


class _Present(NamedTuple):
    """A job in the system."""

    waiting: WaitingJob
    state: JobState
    run_time: int = 0
    requeues: int = 0
    lost_time: int = 0
    done: int = 0
    patience: int | None = None
    backfilled: bool | None = None


class ReplayEvents:
    """Stream of the events of a replay, for observers and for eligibility.

    Jobs are known by their places among all submitted.

    Attributes
    ----------
    heard
        True if anything follows the events.
    explains
        True if an observer wants reasons.
    rows
        Rows of the jobs in the system, by number, where Python decides.
    held
        Reasons of the jobs that were ineligible in the last round.
    """

    def __init__(self, parts: Parts, holding: ReplayEligibility | None, *, in_python: bool) -> None:
        self._parts, self._holding = parts, holding
        self._tell = listeners(parts.observers, parts.followers)
        self.heard = any(self._tell) or bool(parts.givers)
        self.explains = bool(self._tell.explained)
        self.rows: dict[int, int] = {}
        self.held: Mapping[int, Reason] = {}
        # The decision that is carried out next, where its jobs are placed, by number, those of
        # them that have not started so far, and why some were passed over.
        self._decision = NOTHING
        self._decided: dict[int, NodeAllocation] = {}
        self._late: dict[int, str] = {}
        self._late_starts = LateStarts(parts) if in_python else None
        # What decisions say, for each round since the output began.
        self._remarks: list[RoundRemarks] = []
        # Jobs that were read and have not been submitted, and how many were read.
        self._coming: dict[int, TracedJob] = {}
        self._read = 0
        # The jobs in the system, and the running ones, by their places among all submitted.
        self._present: dict[int, _Present] = {}
        self._running: dict[int, RunningJob] = {}

    def waiting(self, numbers: Iterable[int]) -> list[WaitingJob]:
        """Return jobs in the system as they were submitted."""
        present = self._present
        return [present[number].waiting for number in numbers]

    def running(self, numbers: Iterable[int]) -> list[RunningJob]:
        """Return running jobs as they were started."""
        running = self._running
        return [running[number] for number in numbers]

    def take_remarks(self, rounds: int) -> list[RoundRemarks]:
        """Return the remarks of decisions of the first rounds, and forget all."""
        remarks, self._remarks = self._remarks[:rounds], []
        return remarks

    def read(self, jobs: Sequence[TracedJob]) -> None:
        """Add the next batch of jobs."""
        self._coming.update(enumerate(jobs, self._read))
        self._read += len(jobs)

    def catch_up(self, state: State) -> None:
        """Notify all listeners of the events since the last call."""
        events, nodes, units, devices = state.take_events()
        begin = 0
        for kind, now, number, row, value, expected in events.tolist():
            if kind == EventKind.SUBMITTED_JOB:
                waiting = self._submit(number, row, value, expected)
                if self._holding is not None:
                    self._holding.submitted(waiting, number, row, now, state)
            elif kind == EventKind.STARTED_JOB:
                last, part = np.array([value - begin]), slice(begin, value)
                _, on, counts, _, bits = by_node(last, nodes[part], units[part], devices[part])
                begin = value
                self._present[number] = self._present[number]._replace(backfilled=bool(expected))
                self._start(now, number, (on, counts, bits), state)
            elif kind == EventKind.LOST_JOB:
                self._lose(now, number, row, value, elapsed=expected)
            elif kind == EventKind.ENDED_JOB:
                running, present = self._stop(number), self._present.pop(number)
                for follow in self._tell.followed_ends:
                    follow(running, now)
                self._leave(running, present, present.state, now)
            elif kind == EventKind.ASKED_ROUND:
                # Nothing that decides in the core looks at what they tell.
                additional_data(self._parts.givers, now)
            elif kind == EventKind.REJECTED_JOB:
                self._reject(now, number, row, value)
            elif kind == EventKind.WITHDRAWN_JOB:
                self._withdraw(now, number)
            elif kind == EventKind.DISMISSED_JOB:
                self._dismiss(now, number, value, state)
            else:
                self._round(now, number, state)

    def decided(self, decision: Decision, allocations: Mapping[int, NodeAllocation]) -> None:
        """Record a decision, and the allocations of its starts, in turn."""
        self._decision, self._decided = decision, dict(allocations)

    def _submit(self, number: int, row: int, predicted: int, expected: int) -> WaitingJob:
        job, run_time = self._coming.pop(number)
        if self._late_starts is not None:
            self.rows[job.job_id] = row
        waiting = waiting_job(shown_job(job), predicted, self._parts.system, expected)
        killed = self._parts.kill_at_requested_time and run_time > job.requested_time
        state: JobState = "killed" if killed else "completed"
        run_time = job.requested_time if killed else run_time
        self._present[number] = _Present(waiting, state, run_time, patience=job.patience)
        for tell in self._tell.submitted:
            tell(waiting)
        return waiting

    def _reject(self, now: int, number: int, refused_by: int, predicted: int) -> None:
        """Submit a job that is refused."""
        waiting = waiting_job(self._coming.pop(number).job, predicted, self._parts.system)
        if self._holding is not None:
            self._holding.refused(waiting, now)
        for tell in self._tell.submitted:
            tell(waiting)
        self._tell_left(_Present(waiting, "rejected"), "rejected", by=REFUSALS[refused_by])

    def _dismiss(self, now: int, number: int, by: int, state: State) -> None:
        """Remove a waiting job that is rejected."""
        self._pass_over(None, now, state)
        present = self._present.pop(number)
        self.rows.pop(present.waiting.job_id, None)
        if self._holding is not None:
            self._holding.dismissed(present.waiting.job, number, now)
        self._tell_left(present, "rejected", by=REFUSALS[by])

    def _withdraw(self, now: int, number: int) -> None:
        """Remove a job that is withdrawn, also from the decision that is pending."""
        present = self._present.pop(number)
        job_id = present.waiting.job_id
        self.rows.pop(job_id, None)
        self._decided.pop(job_id, None)
        self._decision = self._decision._replace(
            rejected=tuple([one for one in self._decision.rejected if one != job_id]),
            reasons=tuple([one for one in self._decision.reasons if one.job_id != job_id]),
        )
        self.held = {name: why for name, why in self.held.items() if name != job_id}
        if self._holding is not None:
            self._holding.dismissed(present.waiting.job, number, now)
        self._tell_left(present, "withdrawn")

    def _tell_left(
        self,
        present: _Present,
        state: JobState,
        running: RunningJob | None = None,
        end: int | None = None,
        by: RejectedBy | None = None,
    ) -> None:
        """Tell of a job that has left the system."""
        if not self._tell.ended:
            return
        waiting = present.waiting
        record = JobRecord(
            waiting.job._replace(patience=present.patience),
            waiting.demand,
            waiting.predicted_run_time,
            state,
            running and running.start_time,
            end,
            running and running.allocation,
            by,
            present.requeues,
            present.lost_time,
            present.backfilled,
        )
        for tell in self._tell.ended:
            tell(record)

    def _pass_over(self, until: int | None, now: int, state: State) -> None:
        """Record why planned starts were dropped, up to the next one carried out; or of all."""
        while self._decided:
            job_id = next(iter(self._decided))
            if job_id == until:
                return
            assert self._late_starts is not None
            present = (job.waiting for job in self._present.values())
            waiting = next(job for job in present if job.job_id == job_id)
            allocation = self._decided.pop(job_id)
            self._late[job_id] = self._late_starts.why(waiting, allocation, now, state)

    def _start(self, now: int, number: int, places: Sequence[Any], state: State) -> None:
        waiting = self._present[number].waiting
        self._pass_over(waiting.job_id, now, state)
        allocation = self._decided.pop(waiting.job_id, None)
        nodes, units, devices = (tuple(column.tolist()) for column in places)
        if allocation is None or devices:
            allocation = NodeAllocation(nodes, units).with_devices(devices)
        running = RunningJob(
            now + waiting.predicted_run_time,
            waiting.job_id,
            now,
            waiting.units,
            allocation,
            waiting,
        )
        self._running[number] = running
        if self._late_starts is not None:
            self._late_starts.started(running)
        if self._holding is not None:
            self._holding.started(running, number)
        for tell in self._tell.started:
            tell(running)

    def _lose(self, now: int, number: int, row: int, how: int, *, elapsed: int) -> None:
        """End the attempt of a job before its end; the job waits again or leaves."""
        requeued = how == REQUEUED
        running, present = self._stop(number), self._present[number]
        start, allocation = running.start_time, running.allocation
        for follow in self._tell.followed_ends:
            follow(running, now)
        if self._tell.interrupted:
            told = Interruption(present.waiting.job, start, now, allocation, requeued)
            for tell in self._tell.interrupted:
                tell(told)
        if not requeued:
            del self._present[number]
            self._leave(running, present, "failed" if how == FAILED else "preempted", now)
            return
        saved = 0
        if self._parts.checkpoints is not None:
            left = present.run_time - present.done
            restarts = present.done > 0
            saved = self._parts.checkpoints.saved(left, elapsed, restarts=restarts)
        self._present[number] = present._replace(
            requeues=present.requeues + 1,
            lost_time=present.lost_time + elapsed - saved,
            done=present.done + saved,
        )
        if self._holding is not None:
            self._holding.put_back(running, number, row)

    def _leave(self, running: RunningJob, present: _Present, state: JobState, now: int) -> None:
        """Remove a job that has ended."""
        self.rows.pop(present.waiting.job_id, None)
        if self._holding is not None:
            self._holding.ended(running, now)
        self._tell_left(present, state, running, now)

    def _stop(self, number: int) -> RunningJob:
        """Remove and return a running job."""
        running = self._running.pop(number)
        if self._late_starts is not None:
            self._late_starts.stopped(running)
        return running

    def _round(self, now: int, k: int, state: State) -> None:
        self._pass_over(None, now, state)
        late, self._late = self._late, {}
        decision = self._decision
        remarks = RoundRemarks(
            len(decision.rejected),
            decision.fallback,
            decision.solver,
            decision.chosen,
            decision.because,
        )
        if self._late_starts is not None:
            self._remarks.append(remarks)
        # Records are made for listeners alone: there are as many rounds as events.
        if not self._tell.rounds and not self.explains:
            return
        types = len(self._parts.system.resource_types)
        number, asked, queued, running, started, waiting, latency, again, amounts, seconds = (
            state.round_record(k)
        )
        record = RoundRecord(
            number,
            asked,
            queued,
            running,
            started,
            remarks.rejected,
            waiting,
            tuple(amounts[:types]),
            tuple(amounts[types : 2 * types]),
            latency,
            tuple(amounts[2 * types :]),
            seconds,
            remarks.fallback,
            remarks.solver,
            remarks.chosen,
            remarks.because,
            None if again == NEVER else again,
        )
        for tell in self._tell.rounds:
            tell(record)
        # A limit that came to bear after the decision is the reason that users are told.
        reasons = [
            Reason(reason.job_id, "limit", detail=late[reason.job_id])
            if reason.job_id in late
            else reason
            for reason in self._decision.reasons
        ]
        for explain in self._tell.explained:
            explain(record, (*reasons, *self.held.values()))
