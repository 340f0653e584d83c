"""The dispatchers that follow rules: names, summaries, and what builds them."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.rules.conservative import Conservative
from hpcsched.dispatching.rules.critical import Balanced, Hybrid
from hpcsched.dispatching.rules.easy import Easy
from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.rules.list_scheduling import ListScheduler
from hpcsched.dispatching.rules.orders import (
    KeyOrder,
    QueueOrder,
    run_time,
    shortest_job,
    slowdown_order,
)
from hpcsched.dispatching.rules.params import (
    ConservativeParams,
    CriticalParams,
    EasyParams,
    ExpectedWaitParams,
    ListParams,
    PrbParams,
    RecordedParams,
    RelaxedParams,
    ShortestJobParams,
    SlackParams,
    SlowdownParams,
)
from hpcsched.dispatching.rules.recorded import Recorded
from hpcsched.dispatching.rules.reject import Reject
from hpcsched.dispatching.rules.relaxed import Relaxed
from hpcsched.dispatching.rules.slack import SlackBased
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Params
from hpcsched.system.system import System


class Context(Protocol):
    """What the factories here need of an assembly."""

    @property
    def system(self) -> System:
        """The scenario's system."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


def make_slowdown(params: SlowdownParams, _context: Context) -> QueueOrder:
    """Return the queue order `slowdown`."""
    return slowdown_order(then_area=params.ties == "area")


def make_shortest_job(params: ShortestJobParams, _context: Context) -> QueueOrder:
    """Return the queue order `sjf`."""
    return KeyOrder(shortest_job if params.ties == "demand" else run_time)


def make_expected_wait(params: ExpectedWaitParams, _context: Context) -> ExpectedWaitOrder:
    """Return the queue order `expected_wait`."""
    return ExpectedWaitOrder(params.other, params.waits, params.by)


def make_balanced(params: CriticalParams, context: Context) -> Balanced:
    """Return the allocator `balanced`; raises InputError for resource types that are not there."""
    return Balanced(_critical(params, context))


def make_hybrid(params: CriticalParams, context: Context) -> Hybrid:
    """Return the allocator `hybrid`; raises InputError for resource types that are not there."""
    return Hybrid(_critical(params, context))


def _critical(params: CriticalParams, context: Context) -> tuple[str, ...] | None:
    for name in params.unknown(context.system):
        message = f"{name} cannot be critical: no node group has it"
        raise InputError(Finding("unknown-resource-type", message, key="dispatcher"))
    return params.critical


def make_reject(_params: Params, _context: Context) -> Reject:
    """Return `reject`."""
    return Reject()


def make_list(params: ListParams, context: Context) -> ListScheduler:
    """Return `list`."""
    return ListScheduler(
        context.make("queue_order", params.order),
        params.option,
        context.make("allocator", params.allocator),
        params.depth,
    )


def make_prb(params: PrbParams, context: Context) -> ListScheduler:
    """Return `prb`: list scheduling by expected wait that skips what finds no room."""
    waits = params.expected_wait
    order = ExpectedWaitOrder(1) if waits is None else make_expected_wait(waits, context)
    return ListScheduler(order, "greedy", context.make("allocator", params.allocator))


def make_easy(params: EasyParams, context: Context) -> Easy:
    """Return `easy`."""
    return Easy(context.make("allocator", params.allocator), *_orders(params, context))


def make_relaxed(params: RelaxedParams, context: Context) -> Relaxed:
    """Return `relaxed`."""
    allocator = context.make("allocator", params.allocator)
    return Relaxed(allocator, params.relaxation, *_orders(params, context))


def make_conservative(params: ConservativeParams, context: Context) -> Conservative:
    """Return `conservative`."""
    return Conservative(context.make("allocator", params.allocator), params.compression)


def make_slack(params: SlackParams, context: Context) -> SlackBased:
    """Return `slack`."""
    allocator = context.make("allocator", params.allocator)
    return SlackBased(allocator, params.share, params.least_slack, params.compression)


def make_recorded(params: RecordedParams, context: Context) -> Recorded:
    """Return `recorded`."""
    return Recorded(context.make("allocator", params.allocator), params.missing_start)


def _orders(params: EasyParams, context: Context) -> tuple[Any, Any]:
    """Return the order of the queue, and that behind the head job or None."""
    order, behind = params.order, params.backfill_order
    return (
        context.make("queue_order", order),
        None if behind is None else context.make("queue_order", behind),
    )


RULES: Sequence[tuple[str, str, Callable[[Any, Context], Dispatcher], type[Params]]] = (
    ("reject", "refuses every job: measures the simulator alone", make_reject, Params),
    (
        "list",
        "list scheduling: strict, greedy, committed, or with a reservation for every job",
        make_list,
        ListParams,
    ),
    (
        "easy",
        "EASY backfilling: in order of arrival or any other, one reservation",
        make_easy,
        EasyParams,
    ),
    (
        "prb",
        "priority rule: jobs by wait over expected wait, those without room skipped",
        make_prb,
        PrbParams,
    ),
    ("relaxed", "as easy, but the head job may be delayed a little", make_relaxed, RelaxedParams),
    (
        "conservative",
        "a reservation for every job from its submission on, never moved later",
        make_conservative,
        ConservativeParams,
    ),
    ("slack", "as conservative, but promised starts may slip a little", make_slack, SlackParams),
)
"""Name, summary, factory and parameters of each."""
