"""The workspace where all jobs ask for equal units: slots are counted, not looked at.

Why counting is enough: any free slot takes any unit, and units that are placed in order of their
start times never conflict as long as no instant needs more slots than there are (intervals with at
most `k` at once can be coloured with `k` colours in order of their starts). So a plan that holds by
count can always be carried out.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import Allocation, SlotAllocation, SlotMap
from hpcsched.system.space import SlotSpace


class PooledWorkspace:
    """Free slots now."""

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        assert problem.free_slots is not None
        assert problem.slot_map is not None
        self.problem = problem
        self.started: list[WaitingJob] = []
        self._slot_map: SlotMap = problem.slot_map
        self._allocator = allocator
        # Set for a SlotAllocator; checking against the protocol would cost more than a whole round.
        self._allocate_slots = getattr(allocator, "allocate_slots", None)
        self._intervals = list(problem.free_slots)
        self.free = 0
        for low, high in self._intervals:
            self.free += high - low

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be placed now."""
        return job.units <= self.free

    def fitting(self, jobs: Iterable[WaitingJob]) -> list[WaitingJob]:
        """Return those of the jobs that could be placed now, each by itself."""
        free = self.free
        return [job for job in jobs if job.units <= free] if free else []

    def short_of(self, _job: WaitingJob) -> str:
        """Return nothing: where slots are counted there are no pools."""
        return ""

    def place(self, job: WaitingJob) -> Allocation:
        """Start the job now."""
        self.free -= job.units
        self.started.append(job)
        if self._allocate_slots is not None:
            intervals = self._allocate_slots(job.units, self._intervals)
            return SlotAllocation(intervals, self._slot_map)
        return self._place_on_nodes(job)

    def _place_on_nodes(self, job: WaitingJob) -> Allocation:
        space = SlotSpace(self._slot_map, self._intervals)
        fits = space.free_per_node()
        used = np.multiply.outer(np.array(job.unit_request), self._slot_map.per_node - fits)
        system = self.problem.system
        room = Room(fits, system.capacity.T - used, job.unit_request, system, self.problem)
        allocation = space.claim(self._allocator.allocate(job.units, room), job.request)
        self._intervals = space.free
        return allocation

    def ends(self) -> Iterable[tuple[int, int]]:
        """Return when which number of slots is predicted to come free, by time."""
        running = self.problem.running
        if not self.started:
            return ((job.predicted_end_time, job.units) for job in running)
        now = self.problem.now
        ends = [(now + job.predicted_run_time, job.units) for job in self.started]
        ends += [(job.predicted_end_time, job.units) for job in running]
        ends.sort()
        return ends

    def shadow(self, head: WaitingJob) -> "PooledShadow":
        """Reserve slots for a head job that does not fit now."""
        return PooledShadow(self, head)

    def profile(self) -> "PooledProfile":
        """Return the number of free slots from now on."""
        return PooledProfile(self)


class PooledShadow:
    """A head job's shadow time, and the slots that it leaves spare then."""

    def __init__(self, workspace: PooledWorkspace, head: WaitingJob) -> None:
        self._workspace = workspace
        self._now = workspace.problem.now
        self._head = head
        missing, time = head.units - workspace.free, self._now
        for end, units in workspace.ends():
            if end != time:
                if missing <= 0:
                    break
                time = end
            missing -= units
        self.time = time
        self.spare = -missing

    def postpone(self, time: int) -> None:
        """Move the reservation to a later time, before anything is started beside it."""
        self.time = time
        free = self._workspace.free
        for end, units in self._workspace.ends():
            if end > time:
                break
            free += units
        self.spare = free - self._head.units

    def backfill(self, job: WaitingJob) -> Allocation | None:
        """Start the job now if it ends by the shadow time, or does with what is spare then."""
        units = job.units
        if units > self._workspace.free:
            return None
        if self._now + job.predicted_run_time > self.time:
            if units > self.spare:
                return None
            self.spare -= units
        return self._workspace.place(job)


class Slots(Protocol):
    """Free slots, now and later, for units that are all alike."""

    @property
    def problem(self) -> DispatchingProblem:
        """The round's problem."""

    @property
    def free(self) -> int:
        """The number of free slots now."""

    def ends(self) -> Iterable[tuple[int, int]]:
        """Return when which number of slots is predicted to come free, by time."""

    def place(self, job: WaitingJob) -> Allocation:
        """Start the job now."""


class _Reservation(NamedTuple):
    """Slots that are kept for a job."""

    start: int
    end: int
    units: int


class PooledProfile:
    """The number of free slots, as steps: `free[k]` from `times[k]` to before `times[k + 1]`."""

    def __init__(self, workspace: Slots) -> None:
        self._workspace = workspace
        times, free = [workspace.problem.now], [workspace.free]
        for end, units in workspace.ends():
            if end == times[-1]:
                free[-1] += units
            else:
                times.append(end)
                free.append(free[-1] + units)
        self._times = times
        self._free = free
        self._reservations: dict[int, _Reservation] = {}

    def fits(self, job: WaitingJob) -> bool:
        """Say whether as many slots as the job needs stay free until its predicted end."""
        return self._steps_of(job) > 0

    def start_now(self, job: WaitingJob) -> Allocation | None:
        """Start the job now if as many slots stay free until its predicted end."""
        steps = self._steps_of(job)
        if not steps:
            return None
        self._take(0, steps, self._times[0] + job.predicted_run_time, job.units)
        return self._workspace.place(job)

    def _steps_of(self, job: WaitingJob) -> int:
        """Return how many steps begin before the job would end; 0 if one has too few slots."""
        times, free, units = self._times, self._free, job.units
        end = times[0] + job.predicted_run_time
        step, steps = 0, len(times)
        while step < steps and times[step] < end:
            if free[step] < units:
                return 0
            step += 1
        return step

    def reserve(self, job: WaitingJob, not_before: int | None = None) -> int:
        """Reserve slots at the earliest time that as many are free for the predicted run time.

        That is from now on, or from `not_before` on.
        """
        times, free, units, run_time = self._times, self._free, job.units, job.predicted_run_time
        first = 0 if not_before is None else self._step_at(not_before)
        steps = len(times)
        while True:
            while free[first] < units:
                first += 1
            end, step = times[first] + run_time, first + 1
            while step < steps and times[step] < end and free[step] >= units:
                step += 1
            if step == steps or times[step] >= end:
                break
            first = step + 1
        start = times[first]
        self._take(first, step, end, units)
        self._reservations[job.job_id] = _Reservation(start, end, units)
        return start

    def hold(self, job: WaitingJob, held: Held) -> bool:
        """Reserve slots from a given start on, if they are free; return whether they are."""
        times, free, units = self._times, self._free, job.units
        end = held.start + job.predicted_run_time
        first = step = self._step_at(held.start)
        while step < len(times) and times[step] < end:
            if free[step] < units:
                return False
            step += 1
        self._take(first, step, end, units)
        self._reservations[job.job_id] = _Reservation(held.start, end, units)
        return True

    def held(self, job: WaitingJob) -> Held:
        """Return what is reserved for the job."""
        return Held(self._reservations[job.job_id].start)

    def cancel(self, job: WaitingJob) -> Held:
        """Give back what is reserved for the job, and return what it was."""
        start, end, units = self._reservations.pop(job.job_id)
        for k in self._steps_in(start, end):
            self._free[k] += units
        return Held(start)

    def first_conflict(self, job: WaitingJob, order: Sequence[int] | None = None) -> int | None:
        """Return the first job whose reservation leaves too little for a start now.

        That is the first, in the order in which reservations were made or in a given one, beside
        whose reservation and those before it the job does not fit; None if it fits beside all.
        """
        kept, free = self._reservations, self._free.copy()
        for start, end, units in kept.values():
            for k in self._steps_in(start, end):
                free[k] += units
        end = self._times[0] + job.predicted_run_time
        for name in kept if order is None else order:
            if name in kept:
                start, until, units = kept[name]
                for k in self._steps_in(start, min(until, end)):
                    free[k] -= units
                    if free[k] < job.units:
                        return name
        return None

    def _steps_in(self, start: int, end: int) -> range:
        """Return the steps from `start`, at which one begins, to `end`."""
        times = self._times
        return range(bisect_right(times, start) - 1, bisect_left(times, end))

    def _step_at(self, time: int) -> int:
        """Return the step that begins at a time, which is made if there is none."""
        times = self._times
        step = bisect_right(times, time) - 1
        if times[step] != time:
            step += 1
            times.insert(step, time)
            self._free.insert(step, self._free[step - 1])
        return step

    def _take(self, first: int, step: int, end: int, units: int) -> None:
        """Take slots from step `first` to `end`, which lies in or at the end of step `step - 1`."""
        times, free = self._times, self._free
        if step == len(times) or times[step] != end:
            times.insert(step, end)
            free.insert(step, free[step - 1])
        for k in range(first, step):
            free[k] -= units
