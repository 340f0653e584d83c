"""Each formulation has one optimum: of all solvers that prove it, and of an independent model."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice, product
from typing import NamedTuple

import pytest

from hpcsched.dispatching.cp.backends.any_solver import AnySolver
from hpcsched.dispatching.cp.backends.backend import Backend, Budget, DataBackend
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.unit_positions import pcp21
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, Task
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.planning.model_data import fault_of
from hpcsched.dispatching.planning.search_objective import ModelCost
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.simulation.check import check_decision
from hpcsched.system.space import NodeAllocation
from tests.dispatching.cp.backends.solver_processes import SolverProcesses
from tests.dispatching.cp.backends.test_backends import is_installed
from tests.dispatching.cp.making import ARRIVAL_AND_SHORTEST, FORMULATIONS, asking
from tests.dispatching.cp.random_problems import RandomProblem, packed_problem, random_problem
from tests.reference.paper_models import PAPER_MODELS
from tests.reference.paper_models import pcp4 as pcp4_model


class Solver(NamedTuple):
    """A solver, and a budget that is ample for most problems."""

    backend: Backend | DataBackend
    work: float


SOLVERS = {
    "schedule-or-postpone": Solver(ScheduleOrPostpone(), 0.05),
    "ortools": Solver(OrTools(), 10),
    "pumpkin": Solver(AnySolver("pumpkin"), 2),
}
QUICK = {
    "schedule-or-postpone": Solver(ScheduleOrPostpone(), 0.004),  # too few nodes to compile it
    "ortools": SOLVERS["ortools"],
}
PAPERS = ("hcp19", "pcp19", "pcp4", "pcp20", "pcp21")
OURS = ("joint-now",)
VARIANTS: dict[str, Formulation] = {
    "pcp21, symmetric": pcp21(symmetric=True),
    **{name: FORMULATIONS[name] for name in OURS},
}
MEANING = {
    "pcp21, symmetric": "pcp21",
}
"""Formulations that mean what another one does, with other variables or another search."""


APART = 75
"""Seed of a packed problem in which positions make a difference."""


class Recorded:
    """A solver that keeps the last task and its answer; of those that may crash, in a process."""

    def __init__(self, processes: SolverProcesses) -> None:
        self._processes = processes
        self.last: tuple[Task, Answer] | None = None

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Return the answer to a task."""
        if isinstance(task.backend, AnySolver):
            answer = self._processes.solve(task) or Answer("failed", why="lost")
        else:
            answer = InProcess().solve(task, seconds)
        self.last = task, answer
        return answer

    def close(self) -> None:
        """Do nothing."""


class Optima:
    """The independent optima of a problem, each computed when it is first asked for."""

    def __init__(self, given: RandomProblem) -> None:
        self._problem = given.reference
        self._known: dict[object, int] = {}

    def __getitem__(self, name: str) -> int:
        """Return the optimum of a formulation by name."""
        name = MEANING.get(name, name)
        if name not in self._known:
            self._known[name] = PAPER_MODELS[name](self._problem).least()
        return self._known[name]

    def after(self, decision: Decision) -> int:
        """Return the cost of the best plan in which a decision is carried out."""
        if decision.starts not in self._known:
            # Slots have no nodes of their own.
            begun = {
                job_id - 100: dict(zip(where.nodes, where.units, strict=True))
                if isinstance(where, NodeAllocation)
                else None
                for job_id, where in decision.starts
            }
            self._known[decision.starts] = pcp4_model(self._problem, begun).least()
        return self._known[decision.starts]


class Compared:
    """Counts of what was compared.

    Attributes
    ----------
    proved
        Optima that were proved, and equal to the independent one, by formulation and solver.
    problems
        Problems by kind.
    """

    def __init__(self) -> None:
        self.proved: Counter[tuple[str, str]] = Counter()
        self.problems: Counter[str] = Counter()

    def by_solver(self, solver: str) -> int:
        """Return the number of optima that a solver has proved."""
        return sum(number for (_, name), number in self.proved.items() if name == solver)


class Found(NamedTuple):
    """What a dispatcher has decided, and what its solver was asked and answered."""

    decision: Decision
    task: Task
    answer: Answer


def found(
    name: str, solver: Solver, given: RandomProblem, seed: int, processes: SolverProcesses
) -> Found | None:
    """Return what comes of a problem; None if no solver is asked. The decision is checked.

    Every second problem has list plans to start from, every third the papers' horizon.
    """
    formulation = (FORMULATIONS | VARIANTS)[name]
    recorded = Recorded(processes)
    aggregated = formulation.binds == "nothing"
    dispatcher = asking(
        formulation,
        ModelCost(given.objective.planned_cost),
        "prb" if aggregated else "list",
        ArrivalOrder(),
        options=SelectionOptions("all", 100, None, aggregated=aggregated, worst_case=seed % 3 == 0),
        orders=ARRIVAL_AND_SHORTEST if seed % 2 else (),
        limits=Budget(solver.work),
        weighted=False,
        solver=recorded,
        backend=solver.backend,
    )
    decision = dispatcher.dispatch(given.problem)
    check_decision(given.problem, decision)
    return None if recorded.last is None else Found(decision, *recorded.last)


def check_answer(name: str, one: Found, given: RandomProblem, optima: Optima) -> int | None:
    """Check an answer and what was decided; return the cost if that is proved."""
    formulation, answer = one.task.formulation, one.answer
    assert answer.status in ("optimal", "feasible", "unknown", "failed"), answer
    if answer.plan is None:
        return None
    cost = given.reference.cost(answer.plan.starts.tolist())
    proved = answer.status == "optimal"
    if proved:
        assert cost == optima[name]
    elif formulation.binds != "now":
        assert cost >= optima[name]
    if formulation.binds == "plan":
        assert fault_of(answer.plan, one.task.data) is None
        # What is started leaves a plan that is as good as the solver's.
        assert one.decision.fallback or optima.after(one.decision) <= cost
    return cost if proved else None


def check_order(optima: Optima, given: RandomProblem, counts: Compared) -> None:
    """Check how the optima of the papers' models are to each other."""
    first, counted, placed = optima["hcp19"], optima["pcp19"], optima["pcp20"]
    assert first <= counted == optima["pcp4"] <= placed == optima["pcp21"]
    idle = not given.reference.running
    if idle:
        assert counted == placed
    counts.problems["idle" if idle else "busy"] += 1
    counts.problems["slots"] += given.problem.free_units is not None
    counts.problems["shared resources"] += bool(given.reference.shared)
    counts.problems["unequal nodes"] += len(set(given.reference.capacity)) > 1
    counts.problems["HCP'19 below PCP'19"] += first < counted
    counts.problems["PCP'20 above PCP'19"] += placed > counted


def compared(
    problems: Iterator[tuple[int, RandomProblem]],
    solvers: dict[str, Solver],
    names: Sequence[str],
    *,
    variants: bool,
) -> Compared:
    """Compare the optima of problems about which a solver is asked.

    With `variants`, two of these are compared besides on each problem.
    """
    counts = Compared()
    with SolverProcesses() as processes:
        for seed, given in problems:
            optima = Optima(given)
            also = [list(VARIANTS)[(seed + k) % len(VARIANTS)] for k in (0, 4)]
            for name in (*names, *(also if variants else ())):
                costs = set()
                for solver, asked in solvers.items():
                    one = found(name, asked, given, seed, processes)
                    assert one is not None
                    cost = check_answer(name, one, given, optima)
                    if cost is not None:
                        counts.proved[name, solver] += 1
                        costs.add(cost)
                assert len(costs) <= 1
            check_order(optima, given, counts)
    return counts


def worth_asking(
    make: Callable[[int], RandomProblem], first: int = 0
) -> Iterator[tuple[int, RandomProblem]]:
    """Yield the problems, from a seed on, about which a dispatcher asks its solver."""
    with SolverProcesses() as processes:
        for seed in count(first):
            given = make(seed)
            quick = Solver(ScheduleOrPostpone(), 0)
            if found("hcp19", quick, given, seed, processes) is not None:
                yield seed, given


def test_formulations_have_one_optimum() -> None:
    """On eight problems: HCP'19, PCP'19 to PCP'21, search and CP-SAT, and models of the texts."""
    names = ("hcp19", "pcp19", "pcp20", "pcp21")
    counts = compared(islice(worth_asking(random_problem), 8), QUICK, names, variants=False)
    assert counts.by_solver("ortools") == 8 * len(names)
    assert counts.by_solver("schedule-or-postpone") >= 8 * len(names) - 4
    assert counts.problems["idle"] >= 1
    assert counts.problems["busy"] >= 5


def test_positions_may_cost_something_beside_running_jobs() -> None:
    """PCP'19 has the optimum 13 (3 · 0 + 3 · 1 + 2 · 4 + 2 · 1), PCP'20 and PCP'21 have 15.

    Of five cores the last is free, the three before it from 1, the first from 4. The first job (a
    core, 4 s) starts now, the second (two, 4 s) and the last (one, 6 s) at 1. At 4 two cores are
    free, the first and the last, which the third job (two) can only have by count.
    """
    problems = islice(worth_asking(packed_problem, APART), 1)
    counts = compared(problems, QUICK, ("pcp19", "pcp20", "pcp21"), variants=False)
    assert counts.problems["PCP'20 above PCP'19"] == 1
    assert counts.by_solver("ortools") == 3


needs_all_solvers = pytest.mark.skipif(
    not is_installed("pumpkin"), reason="a solver is not installed"
)


@pytest.mark.slow
@needs_all_solvers
@pytest.mark.parametrize("part", range(5))
def test_formulations_have_one_optimum_on_500_problems(part: int) -> None:
    """On a hundred problems each: all formulations, three solvers, and models of the texts."""
    counts = compared(
        islice(worth_asking(random_problem, 1000 * part), 100), SOLVERS, PAPERS, variants=True
    )
    print(sorted(counts.problems.items()), sorted(counts.proved.items()))  # noqa: T201
    for name, solver in set(product(PAPERS, SOLVERS)) - {("pcp4", "pumpkin")}:
        assert counts.proved[name, solver] >= 90, (name, solver)
    for name in VARIANTS:
        assert sum(counts.proved[name, solver] for solver in SOLVERS) >= 50, name
    assert counts.problems["idle"] >= 15
    assert counts.problems["busy"] >= 40
    for kind in ("slots", "shared resources", "unequal nodes", "HCP'19 below PCP'19"):
        assert counts.problems[kind] >= 5, kind


@pytest.mark.slow
@needs_all_solvers
def test_formulations_have_one_optimum_on_packed_nodes() -> None:
    """On a hundred problems of one node, in some of which positions make a difference."""
    problems = islice(worth_asking(packed_problem), 100)
    counts = compared(problems, SOLVERS, ("pcp19", "pcp20", "pcp21"), variants=False)
    print(sorted(counts.problems.items()), sorted(counts.proved.items()))  # noqa: T201
    for solver in SOLVERS:
        assert counts.by_solver(solver) >= 240, solver
    assert counts.problems["PCP'20 above PCP'19"] >= 5
