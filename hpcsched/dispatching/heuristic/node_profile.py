"""Plans of jobs that ask for unlike units: what is free on each node from now on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.core import plan_kernels
from hpcsched.dispatching.heuristic.allocators import KeepScarce
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.node_level import NodeWorkspace
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.space import held_amounts, units_that_fit
from hpcsched.system.system import IntArray


class _Reservation(NamedTuple):
    """Room that is kept for a job from `start` to `end`, on the nodes of an allocation."""

    job: WaitingJob
    start: int
    end: int
    allocation: NodeAllocation


class NodeProfile:
    """What is free on each node from now on, given predicted ends and reservations.

    A reservation is made at the earliest time from which on room stays free on the same nodes for
    the whole predicted run time, beside all reservations made before it, which keep their nodes
    within the round. It binds no nodes beyond that, so it is not placed by the scenario's
    allocator, but as `KeepScarce` would do without knowing of a round: off what the job does not
    ask for, then on the fullest nodes.

    Of nodes that an announced outage takes, nothing is free meanwhile.
    """

    def __init__(self, workspace: NodeWorkspace) -> None:
        self._workspace = workspace
        self._now = workspace.problem.now
        self._system = system = workspace.problem.system
        releases = workspace.releases()
        self._capacity = np.array(system.capacity)  # compiled code takes no read-only arrays
        self._totals = np.array(system.totals, dtype=np.int64)
        self._placer = KeepScarce()
        # Twice as many segments as there may be at first, so that most reservations find room.
        size = 2 * (system.node_count + len(releases.times)) + 8
        self._start = np.empty(size, dtype=np.int64)
        self._after = np.empty(size, dtype=np.int64)
        self._free = np.empty((size, len(system.totals)), dtype=np.int64)
        count = plan_kernels.open_plan(
            self._now, workspace.space.available, *releases, *self._segments
        )
        self._state = np.array([count, -1], dtype=np.int64)
        for outage in workspace.outages_ahead():
            nodes = np.array(outage.nodes, dtype=np.int64)
            self._make_room(len(nodes))
            plan_kernels.close(outage.start, outage.end, nodes, *self._segments, self._state)
        self._reservations: dict[int, _Reservation] = {}
        self._pools = None if workspace.pools is None else workspace.pools.copy()

    def fits(self, job: WaitingJob) -> bool:
        """Say whether room for the job stays free from now to its predicted end."""
        if not self._workspace.fits(job):
            return False
        end = self._now + job.predicted_run_time
        if not self._pools_suffice(job, self._now):
            return False
        shape = self._workspace.shape(job)
        return plan_kernels.fits_until(end, job.units, *self._segments, *shape, self._capacity)

    def start_now(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if its room stays free until its predicted end."""
        if not self.fits(job):
            return None
        end = self._now + job.predicted_run_time
        lowest = self._lowest(self._now, end)
        fits = units_that_fit(self._system, lowest, job.request)
        allocation = self._workspace.choose(job, fits, lowest)
        if self._pools is not None:
            for stretch in self._workspace.stretches(job, allocation):
                self._pools.take(*stretch)
        self._take(self._now, end, job, allocation)
        return self._workspace.place_on(job, allocation)

    def reserve(self, job: WaitingJob, not_before: int | None = None) -> int:
        """Reserve room at the earliest time that it is free for the predicted run time.

        That is from now on, or from `not_before` on. Raises ValueError if the job does not fit on
        the idle system.
        """
        shape, run_time = self._workspace.shape(job), job.predicted_run_time
        earliest = self._now if not_before is None else not_before
        alone = job.units == 1 and earliest == self._now and self._pools is None
        if alone:
            self._make_room(1)
            start = plan_kernels.reserve_one(
                self._now,
                plan_kernels.NEVER,
                run_time,
                *self._segments,
                self._state,
                *shape,
                self._capacity,
                self._totals,
            )
        else:
            start = self._earliest(job, earliest)
        start = int(start)  # as plain Python, plans tell of times by numpy's numbers
        if start == plan_kernels.NEVER:
            raise ValueError(f"job {job.job_id} does not fit on the system")
        if alone:
            where = NodeAllocation((int(self._state[1]),), (1,))
        else:
            lowest = self._lowest(start, start + run_time)
            where = self._place(job, units_that_fit(self._system, lowest, job.request), lowest)
            self._take(start, start + run_time, job, where)
            self._draw(start, job)
        self._reservations[job.job_id] = _Reservation(job, start, start + run_time, where)
        return start

    def _earliest(self, job: WaitingJob, earliest: int) -> int:
        """Return the earliest start at which nodes and pools have enough; NEVER if there is none.

        Each is asked in turn from where the other has enough, until both agree.
        """
        shape, run_time = self._workspace.shape(job), job.predicted_run_time
        count, start = int(self._state[0]), earliest
        while True:
            start = plan_kernels.earliest(
                start,
                plan_kernels.NEVER,
                job.units,
                run_time,
                count,
                *self._segments,
                *shape,
                self._capacity,
            )
            if self._pools is None or start == plan_kernels.NEVER:
                return start
            later = self._pools.earliest(start, run_time, self._workspace.draw(job))
            if later in (start, plan_kernels.NEVER):
                return later
            start = later

    def hold(self, job: WaitingJob, held: Held) -> bool:
        """Reserve room from a given start on; return whether there is any.

        It is on the nodes held before, if their room is free, and else on any.
        """
        start, end = held.start, held.start + job.predicted_run_time
        if not self._pools_suffice(job, start):
            return False
        lowest = self._lowest(start, end)
        where = held.allocation
        if not isinstance(where, NodeAllocation) or not self._is_free(job, where, lowest):
            fits = units_that_fit(self._system, lowest, job.request)
            if fits.sum() < job.units:
                return False
            where = self._place(job, fits, lowest)
        self._take(start, end, job, where)
        self._draw(start, job)
        self._reservations[job.job_id] = _Reservation(job, start, end, where)
        return True

    def held(self, job: WaitingJob) -> Held:
        """Return what is reserved for the job."""
        kept = self._reservations[job.job_id]
        return Held(kept.start, kept.allocation)

    def cancel(self, job: WaitingJob) -> Held:
        """Give back what is reserved for the job, and return what it was."""
        kept = self._reservations.pop(job.job_id)
        self._change(kept, self._free, -1)
        if self._pools is not None:
            self._pools.give_back(kept.start, kept.end, self._workspace.draw(job))
        return Held(kept.start, kept.allocation)

    def first_conflict(self, job: WaitingJob, order: Sequence[int] | None = None) -> int | None:
        """Return the first job whose reservation leaves too little for a start now.

        That is the first, in the order in which reservations were made or in a given one, beside
        whose reservation and those before it the job does not fit; None if it fits beside all.
        """
        kept, free = self._reservations, self._free.copy()
        draw = self._workspace.draw
        left = None if self._pools is None else self._pools.copy()
        for reservation in kept.values():
            self._change(reservation, free, -1)
            if left is not None:
                left.give_back(reservation.start, reservation.end, draw(reservation.job))
        end = self._now + job.predicted_run_time
        shape = self._workspace.shape(job)
        for name in kept if order is None else order:
            if name in kept and kept[name].start < end:
                self._change(kept[name], free, 1)
                if left is not None:
                    left.take(kept[name].start, kept[name].end, draw(kept[name].job))
                    if not left.fits(self._now, end, draw(job)):
                        return name
                if not plan_kernels.fits_until(
                    end, job.units, self._start, self._after, free, *shape, self._capacity
                ):
                    return name
        return None

    def _pools_suffice(self, job: WaitingJob, start: int) -> bool:
        """Say whether pools have enough for the job from a start to its predicted end."""
        end = start + job.predicted_run_time
        return self._pools is None or self._pools.fits(start, end, self._workspace.draw(job))

    def _draw(self, start: int, job: WaitingJob) -> None:
        """Keep for a job what it may draw from pools from a start on."""
        if self._pools is not None:
            end = start + job.predicted_run_time
            self._pools.take(start, end, self._workspace.draw(job))

    def _place(self, job: WaitingJob, fits: IntArray, lowest: IntArray) -> NodeAllocation:
        """Return where a reservation goes, given what fits and is free on each node."""
        return self._placer.allocate(job.units, Room(fits, lowest, job.unit_request, self._system))

    def _is_free(self, job: WaitingJob, where: NodeAllocation, lowest: IntArray) -> bool:
        """Say whether what an allocation holds is within what is free, `[R, N]`."""
        nodes, amounts = held_amounts(self._system, where, job.request)
        return bool((amounts <= lowest[:, nodes]).all())

    def _change(self, kept: _Reservation, free: IntArray, sign: int) -> None:
        """Take the room of a reservation out of `free` of all segments, or give it back.

        Segments begin and end where it does, so that none has to be split.
        """
        nodes, amounts = held_amounts(self._system, kept.allocation, kept.job.request)
        plan_kernels.take(
            kept.start,
            kept.end,
            np.array(nodes, dtype=np.int64),
            np.ascontiguousarray(sign * amounts.T),
            self._start,
            self._after,
            free,
            self._state,
        )

    @property
    def _segments(self) -> tuple[IntArray, IntArray, IntArray]:
        return self._start, self._after, self._free

    def _lowest(self, begin: int, end: int) -> IntArray:
        """Return the least that is free on each node from `begin` to `end`, `[R, N]`."""
        lowest = np.empty((len(self._totals), self._system.node_count), dtype=np.int64)
        plan_kernels.find_lowest(begin, end, *self._segments, lowest)
        return lowest

    def _take(self, begin: int, end: int, job: WaitingJob, allocation: NodeAllocation) -> None:
        """Take the room of an allocation from `begin` to `end`."""
        nodes, amounts = held_amounts(self._system, allocation, job.request)
        self._make_room(len(nodes))
        plan_kernels.take(
            begin,
            end,
            np.array(nodes, dtype=np.int64),
            np.ascontiguousarray(amounts.T),
            *self._segments,
            self._state,
        )

    def _make_room(self, nodes: int) -> None:
        """Make sure that there are segments to split for room taken on so many nodes."""
        size = len(self._start)
        if self._state[0] + 2 * nodes > size:
            larger = 2 * size  # there are more than two for each node of the system already
            self._start = np.resize(self._start, larger)
            self._after = np.resize(self._after, larger)
            self._free = np.resize(self._free, (larger, len(self._totals)))
