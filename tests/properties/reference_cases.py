"""Random rules, workloads and surroundings, and what holds the product against the reference."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from copy import deepcopy
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import strategies as st

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import Balanced, Hybrid, Weighted
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ExpectedWaitOrder, QueueOrder, slowdown_order
from hpcsched.prediction.predictors import LastTwo, LastTwoParams, RequestedTime
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import RoundRecord
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.system.limits import LimitSet, Metered, SiteLimits, TimeLimits
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.site_policies import Account, SitePolicies, SiteQos
from tests import builders
from tests.builders import (
    OPTIONS,
    conservative_rule,
    easy_rule,
    per_user_of,
    relaxed_rule,
    slack_rule,
    traced,
)
from tests.reference.events import Around, Bound, Limit, Replay
from tests.reference.rules import Rule, Why
from tests.simulation.replays import Told, by_the_core, event_by_event
from tests.simulation.test_against_events import requesting
from tests.simulation.test_held_jobs import held_jobs
from tests.simulation.test_outages_of_all import outages
from tests.strategies import mixed_workloads, uniform_workloads

ORDERS: Mapping[str, QueueOrder] = {
    **builders.ORDERS,
    "slowdown": slowdown_order(),
    "slowdown_then_area": slowdown_order(then_area=True),
    "expected-wait": ExpectedWaitOrder(2, {1: 3}),
}
CRITICAL = {"weighted": lambda _critical: Weighted(), "balanced": Balanced, "hybrid": Hybrid}
HELD = ("limit", "dependency", "outage", "begin_time")
"""Kinds of reasons that are not a dispatcher's."""

orders = st.sampled_from(sorted(ORDERS))
nothing = st.none()
DEPTHS = [None, None, 0, 1, 2, 2**63]
RULES: Mapping[str, st.SearchStrategy[Rule]] = {
    "easy": st.tuples(orders, nothing | orders).map(lambda drawn: Rule("easy", *drawn)),
    "strict": orders.map(lambda order: Rule("strict", order)),
    "greedy": orders.map(lambda order: Rule("greedy", order)),
    "backfill": st.tuples(orders, st.sampled_from(DEPTHS)).map(
        lambda drawn: Rule("backfill", drawn[0], depth=drawn[1])
    ),
    "committed": orders.map(lambda order: Rule("committed", order)),
    "committed-backfill": orders.map(lambda order: Rule("committed-backfill", order)),
    "prb": st.just(Rule("greedy", "expected-wait")),
    "relaxed": st.tuples(orders, nothing | orders).map(lambda drawn: Rule("relaxed", *drawn)),
    "conservative": st.just(Rule("conservative")),
    "slack": st.just(Rule("slack")),
}


class Case(NamedTuple):
    """A system and jobs for it, a rule, what is around it, and that for a simulation."""

    system: System
    jobs: list[TracedJob]
    rule: Rule
    around: Around
    settings: dict[str, Any]


@st.composite
def rules(draw: st.DrawFn, name: str | None = None, *, simple: bool = False) -> Rule:
    """Draw a rule, of this name if one is given; simple ones are EASY and lists."""
    names = ["easy", *sorted(OPTIONS)] if simple else sorted(RULES)
    rule = draw(RULES[draw(st.sampled_from(names)) if name is None else name])
    if simple:
        of = st.sampled_from(sorted(builders.ORDERS))
        behind = None if rule.behind is None else draw(of)
        allocator = draw(st.sampled_from(sorted(builders.ALLOCATORS)))
        return rule._replace(order=draw(of), behind=behind, allocator=allocator)
    return rule._replace(
        allocator=draw(st.sampled_from([*sorted(builders.ALLOCATORS), *sorted(CRITICAL)])),
        compression=draw(st.sampled_from(["arrival", "reservation"])),
        share=draw(st.sampled_from([0.0, 0.3, 1.0, 2.5])),
        least_slack=draw(st.integers(0, 4)),
        scarce_resources=draw(st.sampled_from([None, None, (), ("gpu",), ("core", "gpu")])),
    )


@st.composite
def cases(
    draw: st.DrawFn,
    rule: st.SearchStrategy[Rule],
    *,
    alike: bool | None = None,
    feature: str | None = None,
) -> Case:
    """Draw a case, of units that are alike or not, with a feature of `FEATURES`."""
    settings: dict[str, Any] = {"predictor": RequestedTime()}
    if draw(st.booleans()) if alike is None else alike:
        uniform = draw(uniform_workloads(max_jobs=12))
        workload: Any = uniform
        if draw(st.booleans()):
            settings["uniform_request"] = uniform.request
    else:
        workload = draw(mixed_workloads(max_jobs=10))
    system, queues = workload.system, st.sampled_from([None, 1])
    jobs = [
        TracedJob(job._replace(queue=draw(queues)), run_time)
        for job, run_time in requesting(workload)
    ]
    around = Around(workload.predictions)
    feature = draw(st.sampled_from(FEATURES)) if feature is None else feature
    is_impatient = draw(st.sampled_from([False, False, True])) and feature != "late"
    if is_impatient:
        delays, waits = st.sampled_from([0, 0, 3]), st.none() | st.integers(0, 9)
        jobs = [
            TracedJob(job._replace(begin_delay=draw(delays), patience=draw(waits)), run_time)
            for job, run_time in jobs
        ]
    if feature in ("held back", "both"):
        aggregated = "uniform_request" in settings
        jobs, held = draw(held_jobs(jobs, system, aggregated=aggregated))
        settings |= {**held, "predictor": LastTwo(LastTwoParams())}
        limits = {
            k: Limit(*per_user_of(p), p.groups, p.max_time)
            for k, p in enumerate(held["partitions"])
        }
        around = Around(None, limits or None)
    if feature in ("held back", "both") and draw(st.booleans()):
        bounds, settings["policies"] = draw(limits_of_queues(system))
        around = around._replace(bounds=bounds)
    if feature in ("outages", "both"):
        settings["outages"] = draw(outages(system, draw(st.sampled_from([12, 20, 40]))))
        around = around._replace(outages=settings["outages"])
    takes_time = feature == "late" or (feature != "none" and draw(st.booleans()))
    # These do not go with begin times and withdrawals.
    if takes_time and not is_impatient:
        seconds = st.sampled_from([Fraction(0), Fraction(2, 5), Fraction(1), Fraction(3)])
        base, per_job = draw(seconds), draw(seconds)
        settings["latency"] = Latency(base, per_job)
        around = around._replace(base=base, per_job=per_job)
    return Case(system, jobs, draw(rule), around, settings)


FEATURES = ("none", "outages", "held back", "late", "both")
"""What may be around a rule: outages, what holds jobs back, both; decisions take time, or may."""


def allocator_of(rule: Rule) -> Allocator:
    """Return the allocator that a rule follows."""
    if rule.allocator in CRITICAL:
        return CRITICAL[rule.allocator](rule.scarce_resources)
    return builders.ALLOCATORS[rule.allocator]


def dispatcher_of(rule: Rule) -> Dispatcher:
    """Return a new dispatcher that follows a rule."""
    allocator, order = allocator_of(rule), ORDERS[rule.order]
    behind = None if rule.behind is None else ORDERS[rule.behind]
    compression: Any = rule.compression
    match rule.name:
        case "easy":
            return easy_rule(allocator, order, behind)
        case "relaxed":
            return relaxed_rule(allocator, rule.share, order, behind)
        case "conservative":
            return conservative_rule(allocator, compression)
        case "slack":
            return slack_rule(allocator, rule.share, rule.least_slack, compression)
        case "strict" | "greedy" | "backfill" | "committed" | "committed-backfill":
            return list_rule(order, rule.name, allocator, rule.depth)
    raise AssertionError(rule)


@st.composite
def limits_of_queues(draw: st.DrawFn, system: System) -> tuple[list[Bound], SitePolicies]:
    """Draw limits of queue 1 and of an account of user 1, as the reference and a site have them."""
    name = system.resource_types[0]
    largest = max(1, int(system.totals[0]))

    def drawn(group: Callable[[Job], Hashable]) -> tuple[list[Bound], SiteLimits]:
        amounts = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "jobs": st.integers(1, 2),
                    "nodes": st.integers(1, system.node_count),
                    name: st.integers(1, largest),
                },
            )
        )
        bounds = [Bound(group, key, most) for key, most in amounts.items()]
        running, total = (draw(st.none() | st.integers(1, most)) for most in (3, 5))
        over_time = TimeLimits()
        if running is not None:
            over_time = over_time._replace(running={name: Metered(running, 0)})
            bounds.append(Bound(group, f"{name} left", 60 * running))
        if total is not None:
            used = draw(st.integers(0, total))
            over_time = over_time._replace(total={name: Metered(total, used)})
            bounds.append(Bound(group, f"{name} taken", 60 * (total - used)))
        return bounds, SiteLimits(LimitSet(group=amounts), over_time)

    first, of_queue = drawn(lambda job: "queue" if job.queue == 1 else None)
    second, of_account = drawn(lambda job: "account" if job.user == 1 else None)
    # A limit of a QOS replaces that of an account.
    names = {bound.counted for bound in first}
    second = [
        bound._replace(replaced=lambda job: job.queue == 1) if bound.counted in names else bound
        for bound in second
    ]
    policies = SitePolicies(
        {1: SiteQos(limits=of_queue)},
        {"a": Account(users={1: 1.0}, limits=of_account), "others": Account()},
    )
    return first + second, policies


@st.composite
def many_nodes(draw: st.DrawFn, rule: st.SearchStrategy[Rule]) -> Case:
    """Draw jobs on many of the nodes of one or two groups, with unequal units."""
    large, small = draw(st.integers(8, 30)), draw(st.integers(0, 12))
    groups = [NodeGroup("large", large, {"core": 4, "gpu": 2})]
    if small:
        groups.append(NodeGroup("small", small, {"core": 3}))
    system = System(tuple(groups))
    jobs, now = [], 0
    for number in range(1, draw(st.integers(4, 14)) + 1):
        now += draw(st.integers(0, 3))
        run_time = draw(st.integers(1, 12))
        job = traced(
            number,
            now,
            draw(st.integers(1, large)),
            run_time,
            (draw(st.integers(1, 4)), draw(st.sampled_from([0, 0, 0, 1, 2]))),
            requested_time=draw(st.integers(run_time, 12)),
            exclusive=draw(st.sampled_from([False, False, False, True])),
            one_unit_per_node=draw(st.booleans()),
        )
        jobs.append(job)
    predicted = {job.job_id: job.requested_time for job, _ in jobs}
    around = Around(predicted)
    settings: dict[str, Any] = {"predictor": RequestedTime()}
    if draw(st.sampled_from([False, False, True])):
        settings["outages"] = draw(outages(system, 40))
        around = around._replace(outages=settings["outages"])
    return Case(system, jobs, draw(rule), around, settings)


def check(case: Case) -> int:
    """Compare starts, places, refusals, lost attempts, rounds and reasons.

    The simulation in Python asks the core with reasons and without; where the core decides by
    itself, it does so as well. Return in how many rounds there was a queue.
    """
    expected = Replay(case.system, case.rule, case.around)
    expected.run(case.jobs)
    for replay in ways(case):
        told = replay(parts_of(case), case.jobs)
        found = {
            number: (start, dict(zip(nodes, units, strict=True)))
            for number, start, _, _, nodes, units, *_ in told.jobs
            if nodes
        }
        fates = {job[0]: fate for job, fate in zip(told.jobs, told.fates, strict=True)}
        left = {job[0]: job[1] for job in told.jobs}
        withdrawn = {number: left[number] for number, fate in fates.items() if fate[1]}
        assert withdrawn == expected.withdrawn, replay
        if case.rule.order == "fcfs":
            assert {number for number, fate in fates.items() if fate[2]} == expected.backfilled
        refused = {job[0]: fate[-1] for job, fate in zip(told.jobs, told.fates, strict=True)}
        assert found == expected.found, replay
        assert {name: by for name, by in refused.items() if by} == expected.refused, replay
        assert [(number, start, end) for number, start, end, *_ in told.lost] == expected.lost
        assert [counts[1:7] for counts in told.rounds] == expected.rounds, replay
    kept = [[why for why in of if why.kind not in HELD] for of in expected.told]
    assert reasons_of(case) == kept
    return sum(queued > 0 for _, queued, *_ in expected.rounds)


def parts_of(case: Case) -> Parts:
    """Return the parts of a simulation of a case."""
    return builders.parts(case.system, dispatcher_of(case.rule), **case.settings)


def ways(case: Case) -> Iterator[Callable[[Parts, list[TracedJob]], Told]]:
    """Yield the ways to replay a case."""
    yield event_by_event
    if not obstacles(parts_of(case)):
        yield by_the_core


class Listener(builders.Recorder):
    """Hears the reasons of each round."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[list[Why]] = []

    def reasons_given(self, _record: RoundRecord, reasons: tuple[Reason, ...]) -> None:
        """Keep a dispatcher's reasons."""
        self.told.append([as_why(reason) for reason in reasons if reason.kind not in HELD])


def as_why(reason: Reason) -> Why:
    """Return a reason as the reference gives it."""
    told = reason.detail.removeprefix("at first promised for ").removesuffix(" s")
    return Why(reason.job_id, reason.kind, reason.job, reason.time, int(told) if told else None)


def reasons_of(case: Case) -> list[list[Why]]:
    """Return the reasons of each round, heard in a simulation in Python."""
    listener, parts = Listener(), parts_of(case)
    predictor = deepcopy(parts.predictor)
    simulate(parts._replace(observers=(listener,), predictor=predictor), case.jobs)
    return listener.told
