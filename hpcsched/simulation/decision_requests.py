"""Requests to a dispatcher in Python for the decisions of a replay."""

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from time import perf_counter

import numpy as np

from hpcsched._core import NEVER, State
from hpcsched.dispatching.decision import NOTHING, Decision, Reason
from hpcsched.dispatching.problem import (
    DispatchingProblem,
    ProblemLimits,
    RunningJob,
    WaitingJob,
    waits_for_outage,
)
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.errors import DecisionError, HpcschedError
from hpcsched.plugin_faults import FAULTS, named
from hpcsched.simulation.check import (
    BadDecisionError,
    check_decision,
    dispatcher_raised,
)
from hpcsched.simulation.observer import additional_data
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_eligibility import ReplayEligibility
from hpcsched.simulation.replay_events import OutageReasons, ReplayEvents
from hpcsched.simulation.replay_limits import ReplayLimits
from hpcsched.system.space import idle_room
from hpcsched.system.system import IntArray

_predicted_end = attrgetter("predicted_end_time")


class DecisionRequests:
    """Asks the dispatcher of a simulation, round by round, and writes its decisions down.

    Parameters
    ----------
    holding
        Eligibility of jobs, if any may be ineligible.
    """

    def __init__(
        self,
        parts: Parts,
        events: ReplayEvents,
        holding: ReplayEligibility | None,
        limits: ReplayLimits,
    ) -> None:
        self._parts, self._events, self._holding = parts, events, holding
        self._limits = limits
        # Units that fit on the idle system where counting them is exact.
        unit = parts.equal_unit
        self._units = None if unit is None else idle_room(parts.system, unit).units
        self._outages = OutageReasons(parts.outages, parts.system)
        # Jobs as they were shown last where they were shown otherwise than they are: on fewer
        # nodes, by their places among all submitted, and with a corrected end, by number.
        self._narrowed: dict[int, WaitingJob] = {}
        self._corrected: dict[int, RunningJob] = {}
        self.decision: Decision = NOTHING

    def ask(self, state: State) -> None:
        """Ask for a decision and give it to the core."""
        number = state.round + 1
        rows = state.queue
        queue = self._events.waiting(state.jobs("sequence", rows).tolist())
        held: Mapping[int, Reason] = {}
        if state.held_back:
            causes = [state.held(row) for row in rows.tolist()]
            held = dict(self._held(queue, [by_outages for by_outages, *_ in causes], state))
            limits = state.jobs("other", rows).tolist()
            for job, (*_, by_limits, by_begin), limit in zip(queue, causes, limits, strict=True):
                if by_limits:
                    words = self._limits.words[limit]
                    held[job.job_id] = Reason(job.job_id, "limit", detail=words)
                elif by_begin and job.job_id not in held:
                    words = f"until second {job.submit_time + job.job.begin_delay}"
                    held[job.job_id] = Reason(job.job_id, "begin_time", detail=words)
            shown_now = [not any(by) for by in causes]
            queue = [job for job, is_shown in zip(queue, shown_now, strict=True) if is_shown]
            rows = rows[shown_now]
        self._events.held = held
        # All waiting jobs may be held back: then nobody is asked.
        shown = self._shown(rows, queue, state)
        self.decision, seconds = NOTHING, 0.0
        problem: DispatchingProblem | None = None
        if shown:
            problem = self._problem(shown, rows, state, number)
            began = perf_counter()
            try:
                decision = self._parts.dispatcher.dispatch(problem)
            except HpcschedError:
                raise
            except FAULTS as error:
                raise dispatcher_raised(_named(self._parts), number, error) from error
            seconds = perf_counter() - began
            try:
                check_decision(
                    problem,
                    decision,
                    self._events.held,
                    lambda job, node: self._outages.closed_to(job, node, state.now, state),
                )
            except BadDecisionError as error:
                raise decision_fault(self._parts, number, str(error)) from None
            self.decision = decision._replace(reasons=self._reasons(problem, decision, state))
        self._give(seconds, () if problem is None else self._passed(problem), state)

    def _reasons(
        self, problem: DispatchingProblem, decision: Decision, state: State
    ) -> tuple[Reason, ...]:
        """Return a decision's reasons, naming the outages for whose ends jobs wait."""
        if not (decision.reasons and problem.outages):
            return decision.reasons
        words = {
            job.job_id: self._outages.closing(job, state.now, state, announced=True)
            for job in problem.queue
            if waits_for_outage(problem, job)
        }
        return tuple([
            reason._replace(kind="outage", detail=words[reason.job_id])
            if reason.kind == "no_room" and reason.job_id in words
            else reason
            for reason in decision.reasons
        ])  # fmt: skip

    def _held(
        self, queue: Sequence[WaitingJob], by_outages: Sequence[bool], state: State
    ) -> Mapping[int, Reason]:
        """Return the reasons of the ineligible jobs, by number."""
        now, closing = state.now, self._outages.closing
        shut_out = {
            job.job_id: Reason(job.job_id, "outage", detail=closing(job, now, state))
            for job, is_shut_out in zip(queue, by_outages, strict=True)
            if is_shut_out
        }
        if self._holding is None:
            return shut_out
        return self._holding.reasons(queue, shut_out, now)

    def _shown(
        self, rows: IntArray, queue: Sequence[WaitingJob], state: State
    ) -> tuple[WaitingJob, ...]:
        """Return jobs restricted to the nodes that are open to them."""
        if not self._parts.outages.all:
            return tuple(queue)
        shapes = state.jobs("shape", rows)
        numbers = state.jobs("sequence", rows).tolist()
        before, self._narrowed = self._narrowed, {}
        shown, open_to = list(queue), {}
        for place in np.flatnonzero(shapes != state.jobs("request", rows)).tolist():
            number, shape = numbers[place], int(shapes[place])
            if shape not in open_to:
                open_to[shape] = frozenset(state.open_nodes(shape))
            known = before.get(number)
            if known is None or known.request.allowed_nodes != open_to[shape]:
                request = queue[place].job.request
                request = request._replace(allowed_nodes=open_to[shape])
                known = queue[place]._replace(request=request)
            shown[place] = self._narrowed[number] = known
        return tuple(shown)

    def _problem(
        self, queue: tuple[WaitingJob, ...], rows: IntArray, state: State, number: int
    ) -> DispatchingProblem:
        now, running, available = state.now, self._running(state), state.available
        available.flags.writeable = False
        units = self._units
        return DispatchingProblem(
            now,
            number,
            queue,
            running,
            self._parts.system,
            self._parts.objective,
            available,
            None if units is None else units - sum([job.units for job in running]),
            explain=self._events.explains,
            outages=self._outages.announced(now),
            additional=additional_data(self._parts.givers, now),
            limits=self._limits_of(queue, rows, state),
        )

    def _limits_of(
        self, queue: tuple[WaitingJob, ...], rows: IntArray, state: State
    ) -> ProblemLimits | None:
        """Return the limits for a rule of the core; other dispatchers are shown less."""
        if not self._limits.any or not isinstance(self._parts.dispatcher, CoreRule):
            return None
        sets = zip((job.job_id for job in queue), state.jobs("limits", rows), strict=True)
        return ProblemLimits(state.limits, dict(sets), self._limits.words)

    def _running(self, state: State) -> tuple[RunningJob, ...]:
        """Return running jobs by estimated end; ties keep the order of submission."""
        now, rows = state.now, state.running_rows
        running = self._events.running(state.jobs("sequence", rows).tolist())
        if not running or running[0].predicted_end_time > now:
            self._corrected.clear()
            return tuple(running)
        before, self._corrected = self._corrected, {}
        ends = state.jobs("shown_end", rows).tolist()
        for place, (job, end) in enumerate(zip(running, ends, strict=True)):
            if job.predicted_end_time > now:
                break
            known = before.get(job.job_id)
            if known is None or known.predicted_end_time != end:
                known = job._replace(predicted_end_time=end)
            running[place] = self._corrected[job.job_id] = known
        return tuple(sorted(running, key=_predicted_end))

    def _passed(self, problem: DispatchingProblem) -> Collection[int]:
        """Return the numbers of the queued jobs behind the first one that waits on."""
        gone = {start.job_id for start in self.decision.starts}
        if not gone or len(gone) == len(problem.queue):
            return ()
        rule, gone = self._parts.dispatcher, gone.union(self.decision.rejected)
        queue = rule.considered if isinstance(rule, CoreRule) else problem.queue
        numbers = [job.job_id for job in queue]
        first = next((k for k, number in enumerate(numbers) if number not in gone), len(numbers))
        return set(numbers[first:])

    def _give(self, seconds: float, passed: Collection[int], state: State) -> None:
        """Give the decision to the core."""
        decision = self.decision
        allocations = {start.job_id: start.allocation for start in decision.starts}
        self._events.decided(decision, allocations)
        row_of, again = self._events.rows, decision.call_again_at
        try:
            state.answer(
                rows=[row_of[start.job_id] for start in decision.starts],
                places=[where.places for where in allocations.values()],
                backfilled=[start.job_id in passed for start in decision.starts],
                dismissed=[row_of[job_id] for job_id in decision.rejected],
                call_again=NEVER if again is None else again,
                seconds=seconds,
            )
        except ValueError as error:  # only devices are not checked before
            raise decision_fault(self._parts, state.round + 1, str(error)) from None


def decision_fault(parts: Parts, number: int, what: str) -> DecisionError:
    """Return an error that names the dispatcher and the round."""
    return DecisionError(f"{_named(parts)}, round {number}: {what}")


def _named(parts: Parts) -> str:
    return named("dispatcher", parts.dispatcher, parts.dispatcher_name)
