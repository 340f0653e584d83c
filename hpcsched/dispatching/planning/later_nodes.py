"""Which nodes a job may use later, once announced outages are over that close them to it now.

Jobs are shown to dispatchers as ones that may only use nodes that are open to them if they start
now. For later starts that is too little.
"""

import numpy as np

from hpcsched.dispatching.planning.outage_data import MOST
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.system import IntArray
from hpcsched.workload.job import Job

_NEVER = np.iinfo(np.int64).max


class LaterNodes:
    """The nodes that are closed now, or will be, and what that has made of the jobs.

    A job that may use all nodes that are open to it now is taken for one that may use any but those
    that have failed, of which nobody knows when they are back. One that may use fewer was bound to
    some nodes before, and it is not known to which others.

    `back`, `[N]`, is when each node is back that is closed now, in seconds; now for all others. Of
    very many outages those furthest off are left out (see `MOST`).
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        assert problem.free_amounts is not None
        now, count = problem.now, problem.system.node_count
        self._now = now
        self.back: IntArray = np.full(count, now, dtype=np.int64)
        clear_until = np.full(count, _NEVER)
        self._known_until, single = _NEVER, 0
        for outage in problem.outages:
            nodes = np.array(outage.nodes, dtype=np.int64)
            if outage.start <= now:
                self.back[nodes] = np.maximum(self.back[nodes], outage.end)
            else:
                clear_until[nodes] = np.minimum(clear_until[nodes], outage.start)
            single += len(nodes)
            if single > MOST:  # the outages are by their start
                self._known_until = outage.start
                break
        used = np.zeros(count, dtype=np.bool_)
        for running in problem.running:
            used[list(running.allocation.nodes)] = True
        closed = self.back > now
        gone = ~used & ~closed & ~problem.free_amounts.any(axis=0)
        self._clear_until = np.where(closed | gone, now, clear_until)
        self._limits = np.unique(self._clear_until)
        self._not_gone = frozenset((~gone).nonzero()[0].tolist()) if gone.any() else None
        self._is_all: dict[tuple[frozenset[int], int], bool] = {}

    def request(self, job: WaitingJob) -> Job:
        """Return a job as one that may use the nodes that may be open to it later.

        It stays as it is if it ends after the first outage that plans may leave out (see `MOST`):
        what a plan starts now has to keep clear of all of them.
        """
        allowed, end = job.job.allowed_nodes, self._now + job.predicted_run_time
        if allowed is None or end > self._known_until:
            return job.job
        key = allowed, int(self._limits.searchsorted(end))
        if key not in self._is_all:
            open_ = self._clear_until >= end
            some = open_[list(allowed)]
            self._is_all[key] = bool(some.all()) and len(some) == int(open_.sum())
        return job.job._replace(allowed_nodes=self._not_gone) if self._is_all[key] else job.job
