"""Python side of the core's event loop: columns of jobs in, columns of results out.

The core calls Python at the points at which it is needed: for predictions, orders, eligible jobs
and decisions that are Python's.

At each instant: ends, then outages, then submissions, then one dispatching round if jobs wait. A
job of zero run time ends in the instant in which it starts, which opens one more round of that
instant if jobs still wait. A round is also held when a shared resource changes while jobs wait.

A round that is charged a latency takes simulated time. Jobs end and are submitted meanwhile, but
no other round begins; once its decision is carried out, the next round is due at once if anything
did. A start is not carried out if its nodes have been closed or a shared resource has had too
little since the decision was asked for; its job waits on.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from hpcsched import _core
from hpcsched._core import Allocator, Batch, Choices, Hooks, Pause, Rule
from hpcsched.dispatching.core_state import RequestShapes, new_state, set_outages, set_preemption
from hpcsched.dispatching.decision import NOTHING
from hpcsched.dispatching.problem import plans_past_outages
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.device_allocators import ScoreAllocator
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.errors import DecisionError, PluginError
from hpcsched.simulation.decision_requests import DecisionRequests, decision_fault
from hpcsched.simulation.latency import LatencyAccount
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Written, take_written
from hpcsched.simulation.replay_admission import (
    ColumnChecks,
    SharedResourceAdmission,
    admitted,
    precedences,
    waiting_times,
)
from hpcsched.simulation.replay_choices import ReplayPredictions, choices_of, orders_of
from hpcsched.simulation.replay_eligibility import ReplayEligibility
from hpcsched.simulation.replay_events import ReplayEvents
from hpcsched.simulation.replay_limits import ReplayLimits
from hpcsched.system.space import units_on_idle
from hpcsched.system.system import IntArray
from hpcsched.workload.job import LONGEST, TracedJob, shown_job
from hpcsched.workload.job_batches import (
    NO_JOBS,
    JobColumns,
    RequestNumbers,
    columns_of,
    not_replayable,
    records_of,
)

AHEAD = 512
"""Number of jobs that are read at a time where they come one by one."""

_MOST_NAMED = 3
_LARGEST_LOSS = 1 << 61
"""Largest loss of capacity while one decision is awaited, in amount × seconds."""


class EventLoop:
    """One replay; `run` can be called once.

    Parameters
    ----------
    seconds
        Real seconds after which a part of the replay ends, so that it can be watched and stopped.
    places
        False: the nodes of jobs are not recorded.
    in_python
        True: the dispatcher is asked in Python, and all followers are notified of each instant
        before the next.
    """

    def __init__(
        self, parts: Parts, seconds: float = 0.2, *, places: bool = True, in_python: bool = False
    ) -> None:
        self.parts, self._seconds = parts, seconds
        system = parts.system
        self._orders: tuple[QueueOrder, QueueOrder] = ArrivalOrder(), ArrivalOrder()
        if in_python:
            asked_for = _core.Correction.ASKED_FOR
            choices = Choices(Rule.IN_PYTHON, correction=asked_for, writes_places=places)
        else:
            rule = parts.dispatcher
            assert isinstance(rule, CoreRule)
            self._orders, choices = orders_of(rule), choices_of(parts, places=places)
            # The core keeps the usage of users by itself.
            followers = [f for f in parts.followers if not isinstance(f, MultifactorOrder)]
            parts = parts._replace(followers=followers)
        self._choices = choices
        self._predictions = ReplayPredictions(parts, self._orders, in_python=in_python)
        self._limits = ReplayLimits(parts.system, parts.partitions, parts.policies)
        first_slot: Iterable[int] = (0,)
        # Which slots are taken decides on nothing, so that other allocators may look at nodes.
        unit = None if in_python else parts.equal_unit
        first_fit = choices.allocator == Allocator.FIRST_FIT
        # Limits of nodes need to know where jobs run.
        if unit is not None and first_fit and not self._limits.counts_nodes:
            first_slot = accumulate(units_on_idle(system, unit).tolist(), initial=0)
        self._holding: ReplayEligibility | None = None
        if parts.dependencies or parts.recorded is not None:
            self._holding = ReplayEligibility(parts)
        self._events = ReplayEvents(parts, self._holding, in_python=in_python)
        self._follows = bool(self._holding or in_python or self._events.heard)
        keys, behind_keys = self._predictions.keys(NO_JOBS, np.empty(0, dtype=np.int64))
        self.state = new_state(
            system,
            choices,
            first_slot=first_slot,
            # In each period of shared resources a decision may take another time, as fractions of
            # seconds are carried over, and only one of these times may suit.
            rounds=1 if parts.latency is None else parts.latency.fractions,
            keys=keys.shape[1],
            behind_keys=behind_keys.shape[1],
            by_python=in_python,
            takes_time=parts.latency is not None,
            follows=self._follows,
            tells=in_python or self._events.heard,
            holds_jobs=self._holding is not None,
            plans_past_outages=plans_past_outages(parts.dispatcher),
            shows_startable=in_python and not isinstance(parts.dispatcher, CoreRule),
        )
        allocator = getattr(parts.dispatcher, "allocator", None)
        scores = isinstance(allocator, ScoreAllocator)
        if isinstance(allocator, ScoreAllocator):
            allocator.prepare(self.state, system)
        for behind, order in enumerate(self._orders):
            if isinstance(order, MultifactorOrder):
                self.state.set_priority(order.core, behind=bool(behind))
        if self._holding is not None:
            self.state.release = self._holding.next_release
        if parts.outages.all:
            set_outages(self.state, parts.outages)
        if parts.preemption is not None:
            set_preemption(self.state, parts.preemption, system.resource_types)
        if parts.checkpoints is not None:
            self.state.set_checkpoints(*parts.checkpoints)
        self.shapes = RequestShapes(
            system, beside_outages=bool(parts.outages.all), with_scores=scores
        )
        self._latency = None if parts.latency is None else LatencyAccount(parts.latency)
        self._asking: DecisionRequests | None = None
        if in_python:
            self._asking = DecisionRequests(parts, self._events, self._holding, self._limits)
        self._admission = SharedResourceAdmission(system)
        self._checks = ColumnChecks(max((outage.end for outage in parts.outages.all), default=0))
        self.stopped = False

    @property
    def is_in_core(self) -> bool:
        """True if no part of the replay is Python's, and batches do not add limits to its state."""
        asks = self._predictions.needs_jobs or self._latency is not None
        return not (self._follows or asks or self._limits.any)

    def stop(self) -> None:
        """End the replay after the present instant, with jobs left in the system."""
        self.stopped = True

    def replay(self, jobs: Iterable[TracedJob]) -> None:
        """Replay jobs, in order of submission, until all have left or the replay is stopped."""
        for _ in self.run(admitted(columns_of(jobs, RequestNumbers(), AHEAD), self.parts)):
            pass

    def run(self, batches: Iterable[JobColumns]) -> Iterator[Written]:
        """Replay jobs; yield the jobs that have left and the rounds, part by part.

        A batch is read when all jobs before it have been submitted. All that was written up to the
        last instant is yielded before an error is raised.
        """
        try:
            yield from self._advance(batches)
        except (Exception, KeyboardInterrupt):
            self.state.keep_finished()
            yield self._take()
            raise

    def _advance(self, batches: Iterable[JobColumns]) -> Iterator[Written]:
        """Replay jobs; see `run`."""
        batches, state = iter(batches), self.state
        hooks = Hooks(
            predict=self._predict,
            correct=lambda rows: self._predictions.correct(np.array(rows), state),
            look=self._look,
            look_again=self._look_again,
            decide=self._decide,
            charge=self._charge,
            pass_instant=self._pass_instant,
        )
        state.begin_batch(self.batch_of(next(batches, None)))
        while not (self.stopped and state.between_instants):
            pause = state.advance(hooks, 0.0 if self.stopped else self._seconds)
            if pause is Pause.OVER:
                if state.waiting:
                    raise self._stranded()
                break
            # What was written is told before more jobs, since these may turn out to be unusable.
            yield self._written()
            if pause is Pause.FOUND:
                return
            if pause is Pause.JOBS_NEEDED:
                state.begin_batch(self.batch_of(next(batches, None)))
        yield self._written()

    def _stranded(self) -> DecisionError:
        """Return the error about jobs that wait for ever."""
        self._catch_up()
        state, held, named = self.state, self._events.held, []
        rows = state.queue.tolist()
        numbers = state.jobs("number", state.queue).tolist()
        limits = state.jobs("other", state.queue).tolist()
        for row, number, limit in list(zip(rows, numbers, limits, strict=True))[:_MOST_NAMED]:
            reason = held.get(number)
            why = "" if reason is None else reason.detail or f"job {reason.job} has not ended"
            if state.held(row)[2]:
                why = self._limits.words[limit]
            named.append(f"job {number}{why and f' ({why})'}")
        more = len(numbers) - _MOST_NAMED
        return decision_fault(
            self.parts,
            self.state.round,
            f"nothing runs and nothing more is submitted, yet {len(numbers)} jobs are left waiting:"
            f" {', '.join(named)}{f' and {more} more' if more > 0 else ''}",
        )

    def _predict(self, k: int) -> tuple[int, list[int], list[int], int]:
        predicted, keys, behind_keys = self._predictions.predict(k, self.state, self._checks)
        return predicted, keys, behind_keys, self._admission.refusal(k, predicted)

    def _look(self) -> tuple[list[int], int]:
        """Find the ineligible jobs, and the next instant at which that changes by itself."""
        assert self._holding is not None
        self._catch_up()
        turned = self._holding.turned(self.state.now, self.state)
        return turned, self._holding.next_release

    def _look_again(self) -> tuple[bool, int]:
        """Request another round if the last one made jobs eligible."""
        assert self._holding is not None
        self._catch_up()
        frees = self._holding.frees(self.state.now)
        # Releases have been gone through; a job that was rejected may have brought about others.
        return frees, self._holding.next_release

    def _decide(self) -> None:
        assert self._asking is not None
        self._catch_up()
        self._asking.ask(self.state)

    def _charge(self, shown: int, decision_time: float) -> int:
        assert self._latency is not None
        decision = NOTHING if self._asking is None else self._asking.decision
        seconds = self._latency.charge(shown, decision, decision_time)
        largest = int(self.parts.system.capacity.sum(axis=0).max())
        if seconds > LONGEST or largest * seconds > _LARGEST_LOSS:
            raise not_replayable("latencies that are too large")
        return seconds

    def _pass_instant(self) -> bool:
        self._catch_up()
        return not self.stopped

    def batch_of(self, columns: JobColumns | None) -> Batch:
        """Return the next batch of jobs in the form of the core; None is the end of the trace."""
        last = columns is None
        if columns is None:
            columns = NO_JOBS
        state, system = self.state, self.parts.system
        self.shapes.add(state, columns.requests[state.requests :])
        present = state.waiting_amounts + state.allocated
        self._checks.check_amounts(columns, self.shapes.asked, present)
        self._checks.check(columns)
        jobs, watched = self._records(columns)
        self._predictions.begin(columns, jobs, state.submitted)
        predicted = self._predictions.known(columns)
        keys, behind_keys = self._predictions.keys(columns, predicted)
        draws = self._admission.begin(columns)
        refused = np.empty(0, dtype=np.int64)
        if self.parts.partitions or system.shared_resources or self._limits.any:
            refused = columns.refusals.copy()
            if not self._predictions.asks:
                self._admission.refuse(refused, predicted)
        return Batch(
            number=columns.job_id,
            submit_time=columns.submit_time,
            run_time=self._predictions.run_times(columns),
            predicted=predicted,
            requested_time=columns.requested_time,
            units=columns.units,
            shape=columns.request,
            keys=keys,
            behind_keys=behind_keys,
            watched=watched,
            refused=refused,
            draws=draws,
            owners=self._owners(columns),
            limits=self._limits.sets_of(columns, state),
            precedence=precedences(columns, self.parts.preemption),
            waiting_times=waiting_times(columns, takes_time=self._latency is not None),
            is_predicted=not self._predictions.asks,
            last=last,
        )

    def _owners(self, columns: JobColumns) -> IntArray:
        """Return user and partition of each job, -1 if unknown, where they are needed."""
        if not self.state.needs_owners:
            return np.empty((0, 0), dtype=np.int64)
        known = (columns.details.column(name).fill_null(-1) for name in ("user", "partition"))
        return np.stack([column.to_numpy() for column in known], axis=1)

    def _records(
        self, columns: JobColumns
    ) -> tuple[Sequence[TracedJob], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Return the jobs of a batch as records, if needed, and the mask of watched ones."""
        after = columns.details.column("after")
        if after.null_count < len(after) and not self.parts.dependencies:
            raise PluginError(
                "trace source: jobs wait for others to end, and the source does not say that its"
                " jobs may (its attribute 'dependencies')"
            )
        watched = np.zeros(len(after), dtype=np.bool_)
        if not (self._follows or self._predictions.needs_jobs):
            return (), watched
        jobs = tuple(records_of([columns]))
        self._events.read(jobs)
        if self._holding is not None:
            watched[:] = [self._holding.may_hold(job) for job, _ in jobs]
        # Predictors are not told how long users wait.
        return tuple([TracedJob(shown_job(job), run_time) for job, run_time in jobs]), watched

    def _catch_up(self) -> None:
        """Notify all followers of the events since the last call."""
        if self._follows:
            self._events.catch_up(self.state)

    def _written(self) -> Written:
        self._predictions.learn(self.state)
        self._predictions.taken()
        self._catch_up()
        return self._take()

    def _take(self) -> Written:
        """Return all that is written; the output begins anew."""
        remarks = self._events.take_remarks(self.state.written[1])
        return take_written(self.state)._replace(remarks=remarks)


def simulate(parts: Parts, jobs: Iterable[TracedJob]) -> None:
    """Replay jobs, in order of submission, under a dispatcher in Python."""
    EventLoop(parts, places=False, in_python=True).replay(jobs)
