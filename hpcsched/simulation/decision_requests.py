"""Requests to a dispatcher in Python for the decisions of a replay."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from time import perf_counter

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.cell_lists import add_cells
from hpcsched.dispatching.core.state import FlightTables, OutageTables, Tables
from hpcsched.dispatching.core.state_arrays import with_cells
from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.errors import DecisionError, HpcschedError
from hpcsched.plugin_faults import FAULTS, named
from hpcsched.simulation.check import (
    BadDecisionError,
    check_decision,
    dispatcher_raised,
)
from hpcsched.simulation.observer_data import additional_data
from hpcsched.simulation.occupancy import Snapshot
from hpcsched.simulation.outage_reasons import OutageReasons
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_eligibility import ReplayEligibility
from hpcsched.simulation.replay_events import ReplayEvents
from hpcsched.simulation.stranded import why_stranded
from hpcsched.system.allocation import Allocation, Interval, SlotMap
from hpcsched.system.space import SlotSpace
from hpcsched.system.system import IntArray

_predicted_end = attrgetter("predicted_end_time")


class DecisionRequests:
    """Asks the dispatcher of a simulation, round by round, and writes its decisions down.

    Parameters
    ----------
    parts
        Parts of the simulation.
    events
        Events so far: the jobs in the system.
    holding
        Eligibility of jobs, if any may be ineligible.
    slot_map
        Numbers of slots, where slots are counted.
    """

    def __init__(
        self,
        parts: Parts,
        events: ReplayEvents,
        holding: ReplayEligibility | None,
        slot_map: SlotMap | None,
    ) -> None:
        self._parts, self._events, self._holding = parts, events, holding
        self._slot_map = slot_map
        self._outages = OutageReasons(parts.outages, parts.system)
        # Jobs as they were shown last where they were shown otherwise than they are: on fewer
        # nodes, by their places among all submitted, and with a corrected end, by number.
        self._narrowed: dict[int, WaitingJob] = {}
        self._corrected: dict[int, RunningJob] = {}
        self.decision: Decision = NOTHING

    def ask(self, tables: Tables, flight: FlightTables, outages: OutageTables) -> Tables:
        """Ask for a decision and write it into the tables, which are returned.

        Raises
        ------
        DecisionError
            If the dispatcher fails, or its decision cannot be carried out.
        """
        counters = tables.counters
        now, number = int(counters[codes.NOW]), int(counters[codes.ROUND]) + 1
        rows = tables.queue[: counters[codes.QUEUED]]
        queue: Sequence[WaitingJob] = self._waiting(rows, tables)
        held: Mapping[int, Reason] = {}
        if counters[codes.HELD_BACK]:
            is_held = tables.jobs[rows, codes.HELD]
            held = self._held(queue, is_held, now, outages)
            queue = [job for job, by in zip(queue, is_held.tolist(), strict=True) if not by]
            rows = rows[is_held == 0]
        self._events.asked(now, held)
        # All waiting jobs may be held back: then nobody is asked.
        shown = self._shown(rows, queue, tables, outages)
        assert flight.decision_seconds is not None
        flight.decision_seconds[0] = 0.0
        self.decision = NOTHING
        if shown:
            problem = self._problem(shown, tables, now, number)
            began = perf_counter()
            try:
                decision = self._parts.dispatcher.dispatch(problem)
            except HpcschedError:
                raise
            except FAULTS as error:
                raise dispatcher_raised(self._named(), number, error) from error
            flight.decision_seconds[0] = perf_counter() - began
            try:
                conditions = _Conditions(self._events.held, self._outages, outages)
                check_decision(problem, decision, conditions)
            except BadDecisionError as error:
                raise self._fault(number, str(error)) from None
            self.decision = decision
            tables = self._write(problem, tables, flight)
        else:
            counters[[codes.DECIDED, codes.DISMISSED]] = 0
            self._events.decided(NOTHING, {})
        again = self.decision.call_again_at
        counters[codes.CALL_AGAIN] = codes.NEVER if again is None else again
        counters[codes.ANSWERED] = 1
        return tables

    def stranded(self, tables: Tables) -> DecisionError:
        """Return the error about the remaining jobs, which wait for ever."""
        rows = tables.queue[: tables.counters[codes.QUEUED]]
        queue = self._waiting(rows, tables)
        events = self._events
        why = why_stranded(queue, tuple(events.held.values()), events.stranded, self._parts.system)
        return self._fault(
            int(tables.counters[codes.ROUND]),
            f"nothing runs and nothing more is submitted, yet {len(queue)} jobs are left"
            f" waiting: {why}",
        )

    def _fault(self, number: int, what: str) -> DecisionError:
        """Return an error that names the dispatcher and the round."""
        return DecisionError(f"{self._named()}, round {number}: {what}")

    def _named(self) -> str:
        return named("dispatcher", self._parts.dispatcher, self._parts.dispatcher_name)

    def _waiting(self, rows: IntArray, tables: Tables) -> list[WaitingJob]:
        """Return the jobs of some rows as they were submitted."""
        return self._events.waiting(tables.jobs[rows, codes.SEQUENCE].tolist())

    def _held(
        self, queue: Sequence[WaitingJob], is_held: IntArray, now: int, outages: OutageTables
    ) -> Mapping[int, Reason]:
        """Return the reasons of the ineligible jobs, by number."""
        closing = self._outages.closing
        shut_out = {
            job.job_id: Reason(job.job_id, "outage", detail=closing(job, now, outages))
            for job, by in zip(queue, is_held.tolist(), strict=True)
            if by & codes.HELD_BY_OUTAGES
        }
        if self._holding is None:
            return shut_out
        return self._holding.reasons(queue, shut_out, now)

    def _shown(
        self, rows: IntArray, queue: Sequence[WaitingJob], tables: Tables, outages: OutageTables
    ) -> tuple[WaitingJob, ...]:
        """Return jobs restricted to the nodes that are open to them."""
        if outages.may_use is None:
            return tuple(queue)
        jobs = tables.jobs
        narrow = jobs[rows, codes.SHAPE] != jobs[rows, codes.REQUEST]
        before, self._narrowed = self._narrowed, {}
        shown, open_to = list(queue), {}
        for place in np.flatnonzero(narrow).tolist():
            number, shape = jobs[rows[place], [codes.SEQUENCE, codes.SHAPE]].tolist()
            if shape not in open_to:
                open_to[shape] = frozenset(np.flatnonzero(outages.may_use[shape]).tolist())
            known = before.get(number)
            if known is None or known.request.allowed_nodes != open_to[shape]:
                request = queue[place].job.request
                request = request._replace(allowed_nodes=open_to[shape])
                known = queue[place]._replace(request=request)
            shown[place] = self._narrowed[number] = known
        return tuple(shown)

    def _problem(
        self, queue: tuple[WaitingJob, ...], tables: Tables, now: int, number: int
    ) -> DispatchingProblem:
        return DispatchingProblem(
            now,
            number,
            queue,
            self._running(tables, now),
            self._parts.system,
            self._parts.objective,
            *self._free(tables),
            explain=self._events.explains,
            outages=self._outages.announced(now),
            additional=additional_data(self._parts.givers, now),
        )

    def _running(self, tables: Tables, now: int) -> tuple[RunningJob, ...]:
        """Return running jobs by estimated end; ties keep the order of submission."""
        jobs, rows = tables.jobs, tables.running[: tables.counters[codes.RUNNING]]
        running = self._events.running(jobs[rows, codes.SEQUENCE].tolist())
        if not running or running[0].predicted_end_time > now:
            self._corrected.clear()
            return tuple(running)
        before, self._corrected = self._corrected, {}
        for place, (job, end) in enumerate(
            zip(running, jobs[rows, codes.SHOWN_END].tolist(), strict=True)
        ):
            if job.predicted_end_time > now:
                break
            known = before.get(job.job_id)
            if known is None or known.predicted_end_time != end:
                known = job._replace(predicted_end_time=end)
            running[place] = self._corrected[job.job_id] = known
        return tuple(sorted(running, key=_predicted_end))

    def _free(self, tables: Tables) -> Snapshot:
        """Return the free resources now."""
        if self._slot_map is None:
            available = tables.available.copy()
            available.flags.writeable = False
            return None, None, available
        return self._free_slots(tables), self._slot_map, None

    def _free_slots(self, tables: Tables) -> tuple[Interval, ...]:
        count = tables.counters[codes.INTERVALS]
        low, high = tables.interval_low[:count].tolist(), tables.interval_high[:count].tolist()
        return tuple(zip(low, high, strict=True))

    def _write(self, problem: DispatchingProblem, tables: Tables, flight: FlightTables) -> Tables:
        """Write a decision into the tables: rows and places of its jobs."""
        counters, starts = tables.counters, self.decision.starts
        row_of = self._events.rows
        if not starts:
            self._events.decided(self.decision, {})
        else:
            places = self._places(problem, starts, tables)
            needed = sum(map(len, places))
            if counters[codes.CELLS_FREE] < needed:
                tables = with_cells(tables, len(tables.cells) + needed)
            for k, (start, cells) in enumerate(zip(starts, places, strict=True)):
                row = row_of[start.job_id]
                tables.started[k] = row
                tables.jobs[row, codes.CELL] = add_cells(cells, tables)
        counters[codes.DECIDED] = len(starts)
        assert flight.dismissed is not None
        rejected = self.decision.rejected
        flight.dismissed[: len(rejected)] = [row_of[job_id] for job_id in rejected]
        counters[codes.DISMISSED] = len(rejected)
        return tables

    def _places(
        self, problem: DispatchingProblem, starts: Sequence[Start], tables: Tables
    ) -> list[Sequence[Interval]]:
        """Return the cells of each start; slots are taken from the free ones."""
        allocations: dict[int, Allocation] = {}
        cells: list[Sequence[Interval]]
        if self._slot_map is None:
            allocations = {start.job_id: start.allocation for start in starts}
            cells = [
                list(zip(start.allocation.nodes, start.allocation.units, strict=True))
                for start in starts
            ]
        else:
            space = SlotSpace(self._slot_map, problem.free_slots)
            request_of = {job.job_id: job.request for job in problem.queue}
            cells = []
            for job_id, allocation in starts:
                claimed = space.claim(allocation, request_of[job_id])
                allocations[job_id] = claimed
                cells.append(list(claimed.intervals))
            count = len(space.free)
            tables.interval_low[:count] = [low for low, _ in space.free]
            tables.interval_high[:count] = [high for _, high in space.free]
            tables.counters[codes.INTERVALS] = count
            tables.counters[codes.FREE_SLOTS] = space.count
        self._events.decided(self.decision, allocations)
        return cells


class _Conditions:
    """Explanations of ineligible jobs and closed nodes, for messages."""

    def __init__(
        self, held: Mapping[int, Reason], reasons: OutageReasons, outages: OutageTables
    ) -> None:
        self._held, self._reasons, self._outages = held, reasons, outages

    def held_back_by(self, job_id: int) -> str | None:
        """Return the end of the sentence `job N is held back ...`, or None."""
        reason = self._held.get(job_id)
        if reason is None:
            return None
        if reason.kind == "dependency":
            return " until others have ended"
        if reason.kind == "recorded_later":
            return f" until second {reason.time}, when the log starts it"
        return f": {reason.detail}"

    def closed_to(self, waiting: WaitingJob, node: int, now: int) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is open."""
        return self._reasons.closed_to(waiting, node, now, self._outages)
