"""Random dispatching problems, small enough to be proved, and the same for the papers' models."""

from fractions import Fraction
from math import lcm
from random import Random
from typing import Any, NamedTuple

from hpcsched.dispatching.objectives import (
    AF,
    AWF,
    BoundedSlowdown,
    Makespan,
    PlannableWeightedSum,
    Slowdown,
)
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.reference.paper_models import (
    Amounts,
    Goal,
    PaperProblem,
    QueuedJob,
    RunningUnit,
    Shared,
)

NOW = 20
TYPES = ("core", "mem", "gpu")
RUN_TIMES = (1, 2, 3, 4, 6, 12)
TAU = 4


class RandomProblem(NamedTuple):
    """A problem, its objective, and the same problem as the reference has it."""

    problem: DispatchingProblem
    objective: Any
    reference: PaperProblem


class _Given(NamedTuple):
    """A queued job with the seconds that it has waited."""

    job: QueuedJob
    waited: int


def random_problem(seed: int) -> RandomProblem:
    """Return the problem of a seed: three in ten are idle, one in six is stated as slots."""
    random = Random(f"optima {seed}")
    alike = random.random() < 1 / 6
    types = random.choice((1, 2, 2, 3))
    kinds = [_node(random, types, first=k == 0) for k in range(random.choice((1, 2, 2)))]
    counts = [random.randint(1, 2) for _ in kinds]
    capacity = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    queue = _queue(random, capacity, alike=alike)
    most = 0 if random.random() < 0.3 else random.randint(1, 4)
    running = _running(random, capacity, most, queue[0].job.request if alike else None)
    power = None
    if not alike and random.random() < 0.25:
        power = _power(random, queue, running)
    return _stated(random, capacity, queue, running, power, slots=alike)


def packed_problem(seed: int) -> RandomProblem:
    """Return a problem of one busy node with many small jobs, whose positions may lie apart."""
    random = Random(f"packed {seed}")
    cores = random.randint(5, 7)
    queue = [
        _Given(QueuedJob(1, (random.randint(1, 3),), random.choice(RUN_TIMES[:5]), (0,)), 9 - k)
        for k in range(random.randint(4, 6))
    ]
    free, running = cores - 1, []
    for _ in range(3):
        size = random.randint(1, 2)
        if size <= free:
            running.append(RunningUnit(0, (size,), random.randint(1, 5)))
            free -= size
    return _stated(random, [(cores,)], queue, running)


def _stated(
    random: Random,
    capacity: list[Amounts],
    queue: list[_Given],
    running: list[RunningUnit],
    power: tuple[Shared, SharedResource] | None = None,
    *,
    slots: bool = False,
) -> RandomProblem:
    """Return a problem with a random objective, stated both ways."""
    objective, goal = _goal(random, queue, capacity)
    names = TYPES[: len(capacity[0])]
    groups = tuple(
        NodeGroup(f"g{n}", 1, dict(zip(names, node, strict=True)))
        for n, node in enumerate(capacity)
    )
    return RandomProblem(
        make_problem(
            System(groups, {}, power[1:] if power else ()),
            _table(names, queue, running, nodes=not slots),
            now=NOW,
            aggregated=slots,
        ),
        objective,
        PaperProblem(
            tuple(capacity),
            tuple(given.job for given in queue),
            tuple(running),
            power[:1] if power else (),
            goal,
        ),
    )


def _node(random: Random, types: int, *, first: bool) -> Amounts:
    """Return the amounts of a node; the first kind has some of all."""
    least = 1 if first else 0
    return (random.randint(1, 5), *(random.randint(least, 4) for _ in range(types - 1)))


def _fits(capacity: Amounts, request: Amounts) -> int:
    """Return how many units fit on an idle node."""
    return min(here // asked for here, asked in zip(capacity, request, strict=True) if asked)


def _request(random: Random, node: Amounts) -> Amounts:
    """Return what a unit asks for, which fits on a node: of the first type at least one."""
    first = random.randint(1, node[0])
    return (first, *(random.choice((0, random.randint(0, most))) for most in node[1:]))


def _queue(random: Random, capacity: list[Amounts], *, alike: bool) -> list[_Given]:
    """Return queued jobs by arrival; with `alike`, all with the same request on any node."""
    nodes = range(len(capacity))
    same = _request(random, capacity[0])
    found = []
    for _ in range(random.choice((2, 3, 3, 4, 4, 5))):
        home = random.choice(nodes)
        request = same if alike else _request(random, capacity[home])
        allowed = tuple(nodes)
        if not alike and random.random() < 0.2:
            allowed = tuple(n for n in nodes if n == home or random.random() < 0.5)
        apart = not alike and random.random() < 0.15
        room = [_fits(capacity[n], request) for n in allowed]
        units = random.randint(1, min(3, sum(min(fits, 1) if apart else fits for fits in room)))
        job = QueuedJob(units, request, random.choice(RUN_TIMES), allowed, apart)
        found.append(_Given(job, random.randint(0, 9)))
    return sorted(found, key=lambda given: -given.waited)


def _running(
    random: Random, capacity: list[Amounts], count: int, same: Amounts | None
) -> list[RunningUnit]:
    """Return units of running jobs; with `same`, on the first nodes with room for it."""
    free = [list(node) for node in capacity]
    found = []
    for _ in range(count):
        rooms = [n for n, row in enumerate(free) if row[0]]
        if same is not None:
            rooms = [n for n, row in enumerate(free) if _fits(tuple(row), same)][:1]
        if not rooms:
            break
        n = random.choice(rooms)
        request = same or _request(random, tuple(free[n]))
        free[n] = [left - taken for left, taken in zip(free[n], request, strict=True)]
        found.append(RunningUnit(n, request, random.randint(1, 8)))
    return found


def _power(
    random: Random, queue: list[_Given], running: list[RunningUnit]
) -> tuple[Shared, SharedResource]:
    """Return power that cores and jobs draw; for a while there may be less of it."""
    per_core, per_job = random.randint(1, 2), random.randint(0, 1)
    draws = [per_core * given.job.units * given.job.request[0] + per_job for given in queue]
    taken = [(per_core * unit.request[0] + per_job, unit.remaining) for unit in running]
    most = max(*draws, sum(amount for amount, _ in taken)) + random.randint(0, max(draws))
    changes: tuple[Change, ...] = ()
    if random.random() < 0.5:
        begin = random.randint(1, 6)
        changes = (
            Change(NOW + begin, random.randint(0, most)),
            Change(NOW + begin + random.randint(1, 5), most),
        )
    times = sorted({0, *(end for _, end in taken), *(change.at - NOW for change in changes)})
    free = []
    for time in times:
        there = [change.capacity for change in changes if change.at - NOW <= time]
        drawn = sum(amount for amount, end in taken if end > time)
        free.append((time, max((there or [most])[-1] - drawn, 0)))
    resource = SharedResource("power", most, Draw({"core": per_core}, per_job=per_job), changes)
    return Shared(tuple(free), tuple(draws)), resource


def _goal(random: Random, queue: list[_Given], capacity: list[Amounts]) -> tuple[Any, Goal]:
    """Return an objective, and what it says of these jobs in whole numbers."""
    zeros, ones = (0,) * len(queue), (1,) * len(queue)
    times = [given.job.run_time for given in queue]
    choice = random.choice(("slowdown", "slowdown", "bounded", "af", "awf", "makespan", "sum"))
    if choice == "slowdown":
        return Slowdown(), Goal(tuple(12 // time for time in times), zeros)
    if choice == "bounded":
        weights = tuple(12 // max(time, TAU) for time in times)
        free = tuple(max(TAU - given.job.run_time - given.waited, 0) for given in queue)
        return BoundedSlowdown(TAU), Goal(weights, free)
    if choice == "af":
        return AF(), Goal(ones, zeros)
    if choice == "makespan":
        return Makespan(), Goal(zeros, zeros, 1)
    if choice == "sum":
        return PlannableWeightedSum((AF(), Makespan()), (1.0, 2.0)), Goal(
            ones, zeros, 2 * len(queue)
        )
    totals = [sum(node[r] for node in capacity) for r in range(len(capacity[0]))]
    areas = [
        job.run_time
        * max(
            Fraction(job.units * asked, total)
            for asked, total in zip(job.request, totals, strict=True)
            if asked
        )
        for job, _ in queue
    ]
    scale = lcm(*(area.denominator for area in areas))
    return AWF(), Goal(tuple(int(area * scale) for area in areas), zeros)


def _table(
    names: tuple[str, ...], queue: list[_Given], running: list[RunningUnit], *, nodes: bool
) -> str:
    """Return the jobs as a table; without `nodes` none says where it may run."""
    columns = ["job_id", "submit_time", "requested_time", "start_time", "units", *names]
    lines = [" ".join([*columns, *(["allowed_nodes", "one_unit_per_node"] if nodes else [])])]

    def add(*values: object, allowed: tuple[int, ...], apart: bool) -> None:
        bounds = (",".join(map(str, allowed)), "yes" if apart else "no") if nodes else ()
        lines.append(" ".join(map(str, (*values, *bounds))))

    for number, unit in enumerate(running):
        # It has run for 5 s.
        times = NOW - 5, unit.remaining + 5, NOW - 5
        add(number + 1, *times, 1, *unit.request, allowed=(unit.node,), apart=False)
    for number, (job, waited) in enumerate(queue):
        times = NOW - waited, job.run_time, "-"
        add(100 + number, *times, job.units, *job.request, allowed=job.nodes, apart=job.apart)
    return "\n".join(lines)
