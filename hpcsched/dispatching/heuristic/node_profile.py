"""Plans of jobs that ask for unlike units: what is free on each node from now on."""

import numpy as np

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.heuristic import plan_kernels
from hpcsched.dispatching.heuristic.allocators import KeepScarce
from hpcsched.dispatching.heuristic.node_level import NodeWorkspace
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.space import held_amounts, units_that_fit
from hpcsched.system.system import IntArray


class NodeProfile:
    """What is free on each node from now on, given predicted ends and reservations.

    A reservation is made at the earliest time from which on room stays free on the same nodes for
    the whole predicted run time, beside all reservations made before it, which keep their nodes
    within the round. It binds no nodes beyond that, so it is not placed by the scenario's
    allocator, but as `KeepScarce` would do without knowing of a round: off what the job does not
    ask for, then on the fullest nodes.
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
        self._state = np.array([count], dtype=np.int64)

    def fits(self, job: WaitingJob) -> bool:
        """Say whether room for the job stays free from now to its predicted end."""
        if not self._workspace.fits(job):
            return False
        end = self._now + job.predicted_run_time
        shape = self._workspace.shape(job)
        return plan_kernels.fits_until(end, job.units, *self._segments, *shape, self._capacity)

    def start_now(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if its room stays free until its predicted end."""
        if not self.fits(job):
            return None
        end = self._now + job.predicted_run_time
        lowest = self._lowest(self._now, end)
        fits = units_that_fit(self._system, lowest, job.job)
        allocation = self._workspace.choose(job, fits, lowest)
        self._take(self._now, end, job, allocation)
        return self._workspace.place_on(job, allocation)

    def reserve(self, job: WaitingJob) -> int:
        """Reserve room at the earliest time that it is free for the predicted run time.

        Raises ValueError if the job does not fit on the idle system.
        """
        shape, run_time = self._workspace.shape(job), job.predicted_run_time
        if job.units == 1:
            self._make_room(1)
            start = plan_kernels.reserve_one(
                run_time, *self._segments, self._state, *shape, self._capacity, self._totals
            )
        else:
            count = int(self._state[0])
            start = plan_kernels.earliest(
                self._now, job.units, run_time, count, *self._segments, *shape, self._capacity
            )
        if start == plan_kernels.NEVER:
            raise ValueError(f"job {job.job_id} does not fit on the system")
        if job.units > 1:
            lowest = self._lowest(start, start + run_time)
            fits = units_that_fit(self._system, lowest, job.job)
            room = Room(fits, lowest, job.unit_request, self._system)
            self._take(start, start + run_time, job, self._placer.allocate(job.units, room))
        return start

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
        nodes, amounts = held_amounts(self._system, allocation, job.job)
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
            larger = size + max(size, 2 * nodes)
            self._start = np.resize(self._start, larger)
            self._after = np.resize(self._after, larger)
            self._free = np.resize(self._free, (larger, len(self._totals)))
