"""Future node eligibility: the nodes a job may use once announced outages that close them are over.

A queued job's request allows only nodes that are eligible if it starts now. Plans with later starts
need the nodes that become eligible again.
"""

import numpy as np

from hpcsched.dispatching.planning.outage_data import MOST
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray

_NEVER = np.iinfo(np.int64).max


class FutureEligibility:
    """Nodes that are down now or will be, and the nodes that jobs may use when they start later.

    A later start may use every node that the job was submitted for, except nodes that have failed,
    whose return is unknown.

    Attributes
    ----------
    back
        Time at which each node that is closed now is back, in seconds, `[N]`; now for all others.
        Of very many outages those furthest off are left out (see `MOST`).
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
        # Nothing runs there, no outage is announced, and yet nothing is free: it has failed.
        gone = ~used & ~closed & ~problem.free_amounts.any(axis=0)
        self._not_gone = frozenset((~gone).nonzero()[0].tolist()) if gone.any() else None
        self._left: dict[frozenset[int], frozenset[int]] = {}

    def request(self, job: WaitingJob) -> Request:
        """Return a job's request with the nodes that may be eligible to it later.

        The request of now is returned if the job ends after the first outage that plans may leave
        out (see `MOST`): what a plan starts now has to keep clear of all outages.
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
