"""Check of a decision against its dispatching problem, by every rule that a start must keep.

Simulations, live runs and recorded problems all check here, so that all refuse the same decisions.
Allocations are claimed from the problem's own account of free resources.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

from hpcsched.dispatching.decision import REASON_KINDS, Decision, Reason, Start
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, HpcschedError, PluginError
from hpcsched.plugin_faults import culprit, raised
from hpcsched.system.shared_resources import next_change
from hpcsched.system.space import (
    Amounts,
    NodeAllocation,
    NodeSpace,
    OvercommitError,
    node_draw,
    own_draw,
)
from hpcsched.system.system import Request, System


class OverdrawError(Exception):
    """A start draws more from a shared resource than is free."""


class SharedResourceAccounts:
    """Amount drawn from each shared resource, and number of jobs on each node.

    A node is switched on with its first job and off with its last; in between it draws once. A
    capacity that falls below the drawn amount ends no job: nothing that draws from the shared
    resource starts until there is room again.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._per_node = node_draw(system)
        self._jobs_on: Counter[int] = Counter()
        self._drawn = [0] * len(system.shared_resources)

    @property
    def drawn(self) -> Amounts:
        """Amount drawn from each shared resource, `[P]`."""
        return tuple(self._drawn)

    def next_change(self, now: int) -> int:
        """Return the first second after `now` at which a capacity changes."""
        return next_change(self._system.shared_resources, now)

    def check(self, now: int, allocation: NodeAllocation, request: Request) -> None:
        """Check that a start draws no more from a shared resource than it offers at `now`."""
        newly_on = sum(1 for node in allocation.nodes if not self._jobs_on[node])
        own = own_draw(self._system, request)
        for p, resource in enumerate(self._system.shared_resources):
            amount = own[p] + newly_on * self._per_node[p]
            free = resource.capacity_at(now) - self._drawn[p]
            if amount and amount > free:
                raise OverdrawError(
                    f"shared resource {resource.name}: {amount} would be drawn, {free} free"
                )

    def started(self, allocation: NodeAllocation, request: Request) -> None:
        """Add the draw of a job that has started."""
        newly_on = 0
        for node in allocation.nodes:
            newly_on += not self._jobs_on[node]
            self._jobs_on[node] += 1
        self._add(own_draw(self._system, request), newly_on, 1)

    def ended(self, allocation: NodeAllocation, request: Request) -> None:
        """Subtract the draw of a job that has ended."""
        off = 0
        for node in allocation.nodes:
            self._jobs_on[node] -= 1
            if not self._jobs_on[node]:
                del self._jobs_on[node]
                off += 1
        self._add(own_draw(self._system, request), off, -1)

    def _add(self, own: Amounts, nodes: int, sign: int) -> None:
        for p, amount in enumerate(own):
            self._drawn[p] += sign * (amount + nodes * self._per_node[p])


def dispatcher_raised(name: str, number: int | None, error: BaseException) -> HpcschedError:
    """Return the error about an exception in a dispatcher, or in a plugin that it asks.

    Parameters
    ----------
    number
        The round; None before the first one.
    """
    origin = culprit(error)
    if origin is None or origin.kind == "dispatcher":
        when = "before the first round" if number is None else f"round {number}"
        return DecisionError(f"{name}, {when}: {raised(error)}")
    when = "before the first round" if number is None else f"in round {number}"
    return PluginError(f"{origin}, asked by {name} {when}: {raised(error)}")


class BadDecisionError(ValueError):
    """A decision breaks a rule; the text names rule, job and node."""


class ClosedNodeError(ValueError):
    """A job is placed on `node`, which it may not use."""

    def __init__(self, node: int, why: str) -> None:
        super().__init__(why)
        self.node = node


ClosedTo = Callable[[WaitingJob, int], str | None]


def check_decision(
    problem: DispatchingProblem,
    decision: object,
    held: Mapping[int, Reason] = MappingProxyType({}),
    closed_to: ClosedTo = lambda *_: None,
) -> tuple[WaitingJob, ...]:
    """Check a decision and return the jobs that it starts.

    Parameters
    ----------
    held
        Reasons of ineligible jobs, by number.
    closed_to
        Returns why a node is closed to a job that would start now; None if it is open.
    """
    if not isinstance(decision, Decision):
        raise BadDecisionError(f"expected a decision with a tuple of starts, found {decision!r}")
    # The type alone: a list of many starts would fill the screen.
    if not isinstance(decision.starts, tuple):
        kind = type(decision.starts).__name__
        raise BadDecisionError(f"expected a decision with a tuple of starts, found a {kind}")
    if not isinstance(decision.rejected, tuple):
        raise BadDecisionError(f"expected a tuple of rejected jobs, found {decision.rejected!r}")
    again = decision.call_again_at
    if again is not None and not (isinstance(again, int) and again > problem.now):
        raise BadDecisionError(
            f"expected call_again_at as a whole number above {problem.now}, found {again!r}"
        )
    started: tuple[WaitingJob, ...] = ()
    if decision.starts or decision.rejected:
        check = _Check(problem, held, closed_to)
        started = tuple([check.start(start) for start in decision.starts])
        for job_id in decision.rejected:
            check.leave(job_id)
    if decision.reasons:
        check_reasons(decision.reasons, problem.queue)
    return started


class _Check:
    """Remaining queue and free resources while a decision is checked."""

    def __init__(
        self, problem: DispatchingProblem, held: Mapping[int, Reason], closed_to: ClosedTo
    ) -> None:
        self._problem = problem
        self._held, self._closed_to = held, closed_to
        self._waiting = {job.job_id: job for job in problem.queue}
        self._space = NodeSpace(problem.system, problem.free_amounts)
        self._shared_resources: SharedResourceAccounts | None = None
        if problem.system.shared_resources:
            self._shared_resources = SharedResourceAccounts(problem.system)
            # Running jobs draw already; the starts of the decision come on top, one after the
            # other.
            for running in problem.running:
                self._shared_resources.started(running.allocation, running.waiting.request)

    def start(self, start: Start) -> WaitingJob:
        """Check a start, take its resources, and return its job."""
        try:
            job_id, allocation = start
        except (TypeError, ValueError):
            raise BadDecisionError(f"expected starts in the decision, found {start!r}") from None
        # Taken out of the queue first, so that a second start of the job is found.
        waiting = self.leave(job_id)
        try:
            self._place(waiting, allocation)
        except OverdrawError as error:
            raise BadDecisionError(f"job {job_id}, {error}") from None
        except OvercommitError as error:
            node = self._problem.system.node_name(error.node)
            raise BadDecisionError(f"job {job_id}, node {node}: {error}") from None
        except ClosedNodeError as error:
            why = self._closed_to(waiting, error.node) or error
            raise BadDecisionError(f"job {job_id}: {why}") from None
        except ValueError as error:
            raise BadDecisionError(f"job {job_id}: {error}") from None
        return waiting

    def leave(self, job_id: int) -> WaitingJob:
        """Remove a job from the queue and return it."""
        waiting = self._waiting.pop(job_id, None)
        if waiting is None:
            reason = self._held.get(job_id)
            if reason is not None:
                raise BadDecisionError(f"job {job_id} is held back{_in_words(reason)}")
            raise BadDecisionError(f"job {job_id} is not waiting, or was decided on twice")
        return waiting

    def _place(self, waiting: WaitingJob, allocation: object) -> None:
        problem, request = self._problem, waiting.request
        checked = check_allocation(problem.system, allocation, request)
        if self._shared_resources is not None:
            self._shared_resources.check(problem.now, checked, request)
            self._shared_resources.started(checked, request)
        self._space.claim(checked, request)


def _in_words(reason: Reason) -> str:
    """Return the end of the sentence `job N is held back ...`."""
    if reason.kind == "dependency":
        return " until others have ended"
    if reason.kind == "recorded_later":
        return f" until second {reason.time}, when the log starts it"
    return f": {reason.detail}"


def check_allocation(system: System, allocation: object, request: Request) -> NodeAllocation:
    """Check that an allocation places exactly the units of a request, and return it.

    Whether the nodes are free is checked when it is claimed.
    """
    if not isinstance(allocation, NodeAllocation):
        raise ValueError(f"expected an allocation, found {type(allocation).__name__}")
    _check_site(system, allocation, request)
    placed = sum(allocation.units)
    if placed != request.units:
        raise ValueError(f"expected {request.units} units to be placed, found {placed}")
    if request.one_unit_per_node:
        for node, count in zip(allocation.nodes, allocation.units, strict=True):
            if count > 1:
                raise ValueError(
                    f"expected each unit on a node of its own, found {count} units on node"
                    f" {system.node_name(node)}"
                )
    return allocation


def check_reasons(reasons: object, queue: Iterable[WaitingJob]) -> None:
    """Check that each reason is about a job of its own in the queue."""
    if not isinstance(reasons, tuple):
        raise BadDecisionError(f"expected a tuple of reasons, found {reasons!r}")
    queued = {job.job_id for job in queue}
    explained: set[int] = set()
    for reason in reasons:
        if not isinstance(reason, Reason):
            raise BadDecisionError(f"expected a reason, found {reason!r}")
        job_id = reason.job_id
        if job_id in explained:
            raise BadDecisionError(f"job {job_id} is given two reasons")
        if job_id not in queued:
            raise BadDecisionError(f"job {job_id} is given a reason, and was not in the queue")
        if reason.kind not in REASON_KINDS:
            kinds = ", ".join(REASON_KINDS)
            raise BadDecisionError(
                f"job {job_id} is given a reason of the kind {reason.kind!r}; there are: {kinds}"
            )
        numbers = (reason.job, reason.time)
        if not isinstance(reason.detail, str) or any(
            number is not None and not isinstance(number, int) for number in numbers
        ):
            raise BadDecisionError(
                f"job {job_id}: expected whole numbers or None as job and time of its reason, and"
                f" text as detail, found {reason!r}"
            )
        explained.add(job_id)


def _check_site(system: System, allocation: NodeAllocation, request: Request) -> None:
    nodes, units = allocation.nodes, allocation.units
    if len(nodes) != len(units):
        raise ValueError(f"{len(nodes)} nodes are named, with units for {len(units)}")
    # Not isinstance: a bool or a number of NumPy would pass here and differ in the results.
    for number in (*nodes, *units):
        if type(number) is not int:
            raise ValueError(f"nodes and units must be whole numbers (int), found {number!r}")
    # One order for equal allocations, so that equal runs are equal to the byte.
    if any(a >= b for a, b in pairwise(nodes)):
        raise ValueError(f"nodes must be ascending, each named once, found {nodes}")
    if nodes and not 0 <= nodes[0] <= nodes[-1] < system.node_count:
        raise ValueError(f"nodes must be from 0 to {system.node_count - 1}, found {nodes}")
    if any(count < 1 for count in units):
        raise ValueError(f"at least one unit must be placed on each node named, found {units}")
    if request.node_groups is not None:
        for node in nodes:
            group = system.groups[int(system.group_of[node])].name
            if group not in request.node_groups:
                raise ValueError(f"node {system.node_name(node)} is not in a group that it may use")
    if request.allowed_nodes is not None:
        for node in nodes:
            if node not in request.allowed_nodes:
                name = system.node_name(node)
                raise ClosedNodeError(node, f"node {name} is not one that it may use")
