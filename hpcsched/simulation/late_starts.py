"""Reasons why starts of an earlier decision fail: nodes or shared resources are gone."""

from hpcsched._core import State
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.outage_reasons import OutageReasons
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.shared_resource_accounts import OverdrawError, SharedResourceAccounts
from hpcsched.system.space import Allocation


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

    def why(self, waiting: WaitingJob, allocation: Allocation, now: int, state: State) -> str:
        """Return why a decided start is not carried out, in words."""
        if self._shared_resources is not None:
            try:
                self._shared_resources.check(now, allocation, waiting.request)
            except OverdrawError as error:
                return f"{error} since the decision was asked for"
        closed = (self._outages.closed_to(waiting, node, now, state) for node in allocation.nodes)
        return next(why for why in closed if why is not None)
