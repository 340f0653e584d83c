"""The papers' models, each written once more from its text, for OR-Tools CP-SAT without CPMpy.

Sources: Galleguillos, thesis 2020, sections 2.3 and 6.1 (PCP₄); Galleguillos et al., PCP'20
preprint, section 3; Galleguillos et al., CP 2021, sections 2.2 (HCP'19, PCP'19) and 3 (PCP'21).

Everything is posted as it is printed: an interval for each copy, an array of all resources of a
type in the order of the nodes, `element` for the node of a position. Implied constraints are left
out. Positions of running jobs are the lowest of their nodes; the papers leave their order open, and
here the one that ends last is lowest. Nodes that a job may not use, and units that each need a node
of their own, are no part of the papers.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model import CpModel, IntervalVar, IntVar

Amounts = tuple[int, ...]
"""An amount of each resource type."""


class QueuedJob(NamedTuple):
    """A queued job: equal units, a run time, and the nodes that it may use.

    `apart`: each of its units needs a node of its own.
    """

    units: int
    request: Amounts
    run_time: int
    nodes: tuple[int, ...]
    apart: bool = False


class RunningUnit(NamedTuple):
    """A unit of a running job on a node, and for how long it goes on."""

    node: int
    request: Amounts
    remaining: int


class Shared(NamedTuple):
    """A resource of no node: what is free of it from a time on, and what each queued job draws."""

    free: tuple[tuple[int, int], ...]
    draws: tuple[int, ...]


class Goal(NamedTuple):
    """The sum of weights · max(start, free) of each job, and of makespan · last end."""

    weights: tuple[int, ...]
    free: tuple[int, ...]
    makespan: int = 0


class PaperProblem(NamedTuple):
    """A dispatching problem: capacity of each node, jobs by priority, times from now on."""

    capacity: tuple[Amounts, ...]
    queue: tuple[QueuedJob, ...]
    running: tuple[RunningUnit, ...]
    shared: tuple[Shared, ...]
    goal: Goal

    @property
    def types(self) -> range:
        """Numbers of the resource types."""
        return range(len(self.capacity[0]))

    @property
    def horizon(self) -> int:
        """Time by which all jobs can have ended, one after the other."""
        changes = [time for shared in self.shared for time, _ in shared.free]
        last = max([0, *changes, *(unit.remaining for unit in self.running)])
        return last + sum(job.run_time for job in self.queue)

    def copies(self, i: int, n: int) -> int:
        """Return the most units of a job on an idle node, the papers' pᵢₙ."""
        job = self.queue[i]
        if n not in job.nodes:
            return 0
        fits = [
            here // asked
            for here, asked in zip(self.capacity[n], job.request, strict=True)
            if asked
        ]
        return min(1 if job.apart else job.units, *fits)

    def cost(self, starts: Sequence[int]) -> int:
        """Return the goal of starts, one for each queued job."""
        ends = [start + job.run_time for start, job in zip(starts, self.queue, strict=True)]
        terms = zip(self.goal.weights, self.goal.free, starts, strict=True)
        return self.goal.makespan * max(ends) + sum(w * max(s, free) for w, free, s in terms)


class _Schedule:
    """Starts of all jobs, the goal and the resources of no node: what all models have."""

    def __init__(self, problem: PaperProblem) -> None:
        self.problem = problem
        self.model = CpModel()
        self.starts: list[IntVar] = []
        self.intervals: list[IntervalVar] = []
        for i, job in enumerate(problem.queue):
            start = self.model.new_int_var(0, problem.horizon - job.run_time, f"s{i}")
            self.starts.append(start)
            self.intervals.append(self.interval(start, job.run_time))
        for shared in problem.shared:
            self.profile(shared.free, shared.draws)
        self._minimise()

    def interval(self, start: IntVar | int, length: int) -> IntervalVar:
        """Return an interval that is always present."""
        return self.model.new_fixed_size_interval_var(start, length, "")

    def profile(self, free: Sequence[tuple[int, int]], draws: Sequence[int]) -> None:
        """Post that jobs draw no more than is free from each time on."""
        most = max(amount for _, amount in free)
        intervals, demands = list(self.intervals), list(draws)
        until = [*(time for time, _ in free[1:]), self.problem.horizon + 1]
        for (time, amount), end in zip(free, until, strict=True):
            intervals.append(self.interval(time, end - time))
            demands.append(most - amount)
        self.model.add_cumulative(intervals, demands, most)

    def aggregated(self) -> None:
        """Post a cumulative for each resource type over all nodes together."""
        problem = self.problem
        for r in problem.types:
            total = sum(node[r] for node in problem.capacity)
            busy = [self.interval(0, unit.remaining) for unit in problem.running]
            demands = [job.units * job.request[r] for job in problem.queue]
            demands += [unit.request[r] for unit in problem.running]
            self.model.add_cumulative([*self.intervals, *busy], demands, total)

    def least(self, seconds: float = 60) -> int:
        """Return the optimum."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(self.model)
        if status != cp_model.OPTIMAL:
            raise AssertionError(f"the reference is {solver.status_name(status)}")
        return round(solver.objective_value)

    def _minimise(self) -> None:
        model, problem, goal = self.model, self.problem, self.problem.goal
        terms = []
        for start, weight, free in zip(self.starts, goal.weights, goal.free, strict=True):
            late = model.new_int_var(free, max(free, problem.horizon), "")
            model.add_max_equality(late, [start, free])
            terms.append(weight * late)
        end = model.new_int_var(0, problem.horizon, "end")
        model.add_max_equality(
            end,
            [start + job.run_time for start, job in zip(self.starts, problem.queue, strict=True)],
        )
        model.minimize(sum(terms) + goal.makespan * end)


def hcp19(problem: PaperProblem) -> _Schedule:
    """Return HCP'19: starts and aggregated resources."""
    schedule = _Schedule(problem)
    schedule.aggregated()
    return schedule


def pcp19(problem: PaperProblem) -> _Schedule:
    """Return PCP'19: an optional interval for each unit that a node could hold."""
    schedule = hcp19(problem)
    model = schedule.model
    on_node: list[list[tuple[IntervalVar, Amounts]]] = [[] for _ in problem.capacity]
    for i, job in enumerate(problem.queue):
        present = []
        for n in range(len(problem.capacity)):
            for j in range(problem.copies(i, n)):
                x = model.new_bool_var(f"x{i},{n},{j}")
                copy = model.new_optional_fixed_size_interval_var(
                    schedule.starts[i], job.run_time, x, ""
                )
                on_node[n].append((copy, job.request))
                present.append(x)
        model.add(sum(present) == job.units)
    for unit in problem.running:
        on_node[unit.node].append((schedule.interval(0, unit.remaining), unit.request))
    for capacity, tasks in zip(problem.capacity, on_node, strict=True):
        for r in problem.types:
            demands = [request[r] for _, request in tasks]
            model.add_cumulative([interval for interval, _ in tasks], demands, capacity[r])
    return schedule


def pcp4(
    problem: PaperProblem, begun: Mapping[int, Mapping[int, int] | None] | None = None
) -> _Schedule:
    """Return PCP₄: a count of units for each job and node, whose place on the node is free.

    Jobs in `begun` start now, on the nodes that it names, if it does.
    """
    schedule = hcp19(problem)
    model, queue = schedule.model, problem.queue
    counts = [
        [
            model.new_int_var(0, problem.copies(i, n), f"a{i},{n}")
            for n in range(len(problem.capacity))
        ]
        for i in range(len(queue))
    ]
    for job, of_job in zip(queue, counts, strict=True):
        model.add(sum(of_job) == job.units)
    for i, placed in (begun or {}).items():
        model.add(schedule.starts[i] == 0)
        for n, units in (placed or {}).items():
            model.add(counts[i][n] == units)
    for n, capacity in enumerate(problem.capacity):
        here = [unit for unit in problem.running if unit.node == n]
        busy = [schedule.interval(0, unit.remaining) for unit in here]
        for r in problem.types:
            demands = [
                job.request[r] * of_job[n] for job, of_job in zip(queue, counts, strict=True)
            ]
            demands += [unit.request[r] for unit in here]
            model.add_cumulative([*schedule.intervals, *busy], demands, capacity[r])
    for r in problem.types:
        total = sum(node[r] for node in problem.capacity)
        energy = [job.run_time * job.units * job.request[r] for job in queue]
        for i, j in combinations(range(len(queue)), 2):
            if energy[i] + energy[j] > max(queue[i].run_time, queue[j].run_time) * total:
                model.add_no_overlap([schedule.intervals[i], schedule.intervals[j]])
    return schedule


def pcp20(problem: PaperProblem) -> _Schedule:
    """Return PCP'20: positions of units in one array for each resource type, all different."""
    schedule, positions = _by_position(problem)
    for of_unit in positions:
        for origins in of_unit.values():
            schedule.model.add_all_different(origins)
    return schedule


def pcp21(problem: PaperProblem) -> _Schedule:
    """Return PCP'21: positions of units in one array for each resource type, in order."""
    schedule, positions = _by_position(problem)
    for of_unit in positions:
        for origins in of_unit.values():
            for one, next_one in pairwise(origins):
                schedule.model.add(one < next_one)
    return schedule


def _by_position(problem: PaperProblem) -> tuple[_Schedule, list[dict[int, list[IntVar]]]]:
    """Return the model of positions, and the origins of each job's units by resource type."""
    schedule = hcp19(problem)
    model = schedule.model
    nodes = range(len(problem.capacity))
    places = [
        [
            model.new_int_var_from_domain(
                cp_model.Domain.from_values([n for n in nodes if problem.copies(i, n)]), ""
            )
            for _ in range(job.units)
        ]
        for i, job in enumerate(problem.queue)
    ]
    for job, of_job in zip(problem.queue, places, strict=True):
        if job.apart:
            model.add_all_different(of_job)
    positions: list[dict[int, list[IntVar]]] = [{} for _ in problem.queue]
    for r in problem.types:
        node_of = [n for n in nodes for _ in range(problem.capacity[n][r])]
        times, spans = [], []
        for n in nodes:
            low = node_of.index(n) if n in node_of else 0
            here = [unit for unit in problem.running if unit.node == n]
            for unit in sorted(here, key=lambda unit: -unit.remaining):
                if unit.request[r]:
                    times.append(schedule.interval(0, unit.remaining))
                    spans.append(schedule.interval(low, unit.request[r]))
                    low += unit.request[r]
        for i, job in enumerate(problem.queue):
            size = job.request[r]
            if not size:
                continue
            origins = positions[i][r] = []
            for place in places[i]:
                origin = model.new_int_var(0, len(node_of) - size, f"y{i},{r}")
                model.add_element(origin, node_of, place)
                model.add_element(origin + size - 1, node_of, place)
                times.append(schedule.intervals[i])
                spans.append(schedule.interval(origin, size))
                origins.append(origin)
        model.add_no_overlap_2d(times, spans)
    return schedule, positions


def joint_now(problem: PaperProblem) -> _Schedule:
    """Return hpcsched's own model: aggregated resources, and nodes for jobs that start now.

    What is free of a node counts in whole multiples of what all requests have in common, on nodes
    that some job can use.
    """
    schedule = _Schedule(problem)
    model, queue = schedule.model, problem.queue
    jobs, nodes = range(len(queue)), range(len(problem.capacity))
    usable = [n for n in nodes if any(problem.copies(i, n) for i in jobs)]
    times = sorted({0, *(unit.remaining for unit in problem.running)})
    for r in problem.types:
        common = _common([job.request[r] for job in queue])
        free = [(time, sum(_free(problem, n, r, time) // common for n in usable)) for time in times]
        schedule.profile(free, [job.units * job.request[r] // common for job in queue])
    counts = []
    for i, job in enumerate(queue):
        now = model.new_bool_var("")
        model.add(schedule.starts[i] == 0).only_enforce_if(now)
        model.add(schedule.starts[i] > 0).only_enforce_if(~now)
        counts.append([model.new_int_var(0, problem.copies(i, n), "") for n in nodes])
        model.add(sum(counts[i]) == job.units * now)
    for n in nodes:
        for r in problem.types:
            asked = sum(job.request[r] * counts[i][n] for i, job in enumerate(queue))
            model.add(asked <= _free(problem, n, r, 0))
    return schedule


def _common(amounts: Sequence[int]) -> int:
    """Return the largest number that divides all amounts."""
    return max(d for d in range(1, max(amounts) + 2) if all(a % d == 0 for a in amounts))


def _free(problem: PaperProblem, n: int, r: int, time: int) -> int:
    """Return what running jobs leave of a node."""
    busy = (u.request[r] for u in problem.running if u.node == n and u.remaining > time)
    return problem.capacity[n][r] - sum(busy)


def dominated_later(schedule: _Schedule) -> _Schedule:
    """Post that a job starts no sooner than one of higher priority and of no more energy.

    That is what the authors' published code (cgalleguillosm/cp_dispatchers) has beside PCP'20 and
    PCP'21: energy is compared in every resource type that both ask for, unless in one of them the
    two jobs have too much of it to run at the same time.
    """
    problem = schedule.problem
    for i, j in combinations(range(len(problem.queue)), 2):
        one, other = problem.queue[i], problem.queue[j]
        both = [r for r in problem.types if one.request[r] and other.request[r]]
        energy = [[job.units * job.request[r] * job.run_time for job in (one, other)] for r in both]
        most = [
            sum(node[r] for node in problem.capacity) * max(one.run_time, other.run_time)
            for r in both
        ]
        apart = any(a + b > limit for (a, b), limit in zip(energy, most, strict=True))
        if both and not apart and all(a <= b for a, b in energy):
            schedule.model.add(schedule.starts[j] >= schedule.starts[i])
    return schedule


PAPER_MODELS: dict[str, Callable[[PaperProblem], _Schedule]] = {
    "hcp19": hcp19,
    "pcp19": pcp19,
    "pcp4": pcp4,
    "pcp20": pcp20,
    "pcp21": pcp21,
    "pcp20, code": lambda problem: dominated_later(pcp20(problem)),
    "pcp21, code": lambda problem: dominated_later(pcp21(problem)),
    "joint-now": joint_now,
}
"""The models by the names of formulations; `code`: with what the authors' published code adds."""
