"""Which nodes a job may use later, once announced outages are over that close them to it now.

Jobs are shown to dispatchers as ones that may only use nodes that are open to them if they start
now. For later starts that is too little.
"""

import numpy as np

from hpcsched.dispatching.planning.outage_data import MOST
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray

_NEVER = np.iinfo(np.int64).max


class FutureEligibility:
    """The nodes that are closed now, or will be, and which are left to jobs that start later.

    Those are the nodes that a job may use as it was submitted, but those that have failed, of which
    nobody knows when they are back.

    `back`, `[N]`, is when each node is back that is closed now, in seconds; now for all others. Of
    very many outages those furthest off are left out (see `MOST`).
    """

    def __init__(self, problem: DispatchingProblem) -> None:
        assert problem.free_amounts is not None
        now, count = problem.now, problem.system.node_count
        self._now = now
        self.back: IntArray = np.full(count, now, dtype=np.int64)
        self._known_until, single = _NEVER, 0
        for outage in problem.outages:
            nodes = np.array(outage.nodes, dtype=np.int64)
            if outage.start <= now:
                self.back[nodes] = np.maximum(self.back[nodes], outage.end)
            single += len(nodes)
            if single > MOST:  # the outages are by their start
                self._known_until = outage.start
                break
        used = np.zeros(count, dtype=np.bool_)
        for running in problem.running:
            used[list(running.allocation.nodes)] = True
        closed = self.back > now
        gone = ~used & ~closed & ~problem.free_amounts.any(axis=0)
        self._not_gone = frozenset((~gone).nonzero()[0].tolist()) if gone.any() else None
        self._left: dict[frozenset[int], frozenset[int]] = {}

    def request(self, job: WaitingJob) -> Request:
        """Return what a job asks for, on the nodes that may be open to it later.

        It is what may be given to it now if it ends after the first outage that plans may leave out
        (see `MOST`): what a plan starts now has to keep clear of all of them.
        """
        own = job.job.request
        if job.request == own or self._now + job.predicted_run_time > self._known_until:
            return job.request
        nodes, there = own.allowed_nodes, self._not_gone
        if nodes is not None and there is not None:
            if nodes not in self._left:
                self._left[nodes] = nodes & there
            return own._replace(allowed_nodes=self._left[nodes])
        return own._replace(allowed_nodes=there if nodes is None else nodes)
