"""Each formulation has one optimum: of all solvers that prove it, and of an independent model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import NamedTuple

import pytest

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend
from hpcsched.dispatching.cp.backends.choco import Choco
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.pumpkin import Pumpkin
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.hcp19 import hcp19
from hpcsched.dispatching.cp.formulations.pcp19 import pcp19
from hpcsched.dispatching.cp.formulations.pcp20 import pcp20
from hpcsched.dispatching.cp.formulations.pcp21 import pcp21
from hpcsched.dispatching.cp.in_process import InProcess
from hpcsched.dispatching.cp.model_solving import Answer, Task
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.dispatching.planning.plan import fault_of
from hpcsched.dispatching.planning.search_objective import ModelCost
from hpcsched.dispatching.planning.selection_options import SelectionOptions
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.simulation.check import check_decision
from tests.dispatching.cp.backends.solver_processes import SolverProcesses
from tests.dispatching.cp.backends.test_backends import is_installed
from tests.dispatching.cp.making import ARRIVAL_AND_SHORTEST, FORMULATIONS, asking
from tests.dispatching.cp.random_problems import RandomProblem, random_problem
from tests.reference.paper_models import PAPER_MODELS


class Solver(NamedTuple):
    """A solver, and a budget that is ample for most problems."""

    backend: Backend | DataBackend
    work: float


SOLVERS = {
    "schedule-or-postpone": Solver(ScheduleOrPostpone(), 0.05),
    "ortools": Solver(OrTools(), 10),
    "choco": Solver(Choco(), 5),
    "pumpkin": Solver(Pumpkin(), 2),
}
QUICK = {
    "schedule-or-postpone": Solver(ScheduleOrPostpone(), 0.004),  # too few nodes to compile it
    "ortools": SOLVERS["ortools"],
}
PAPERS = ("hcp19", "pcp19", "pcp4", "pcp20", "pcp21")
OURS = ("node-time", "joint-now")
VARIANTS: dict[str, Formulation] = {
    "hcp19, code": hcp19(as_code=True),
    "pcp19, code": pcp19(as_code=True),
    "pcp20, code": pcp20(as_code=True),
    "pcp21, code": pcp21(as_code=True),
    "pcp21, symmetric": pcp21(symmetric=True),
    "pcp21, shared": FORMULATIONS["pcp21, shared"],
    "joint-now, nodes": FORMULATIONS["joint-now, nodes"],
}
MEANING = {
    "hcp19, code": "hcp19",
    "pcp19, code": "pcp19",
    "pcp21, symmetric": "pcp21",
    "joint-now, nodes": "joint-now",
}
"""Names of the independent models of formulations whose own name is not that of one."""


class Recorded:
    """A solver that keeps the last task and its answer; of those that may crash, in a process."""

    def __init__(self, processes: SolverProcesses) -> None:
        self._processes = processes
        self.last: tuple[Task, Answer] | None = None

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Return the answer to a task."""
        if isinstance(task.backend, Choco | Pumpkin):
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
        self._known: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        """Return the optimum of a formulation by name."""
        model = PAPER_MODELS[MEANING.get(name, name)]
        key = model.__name__ if model.__name__ != "<lambda>" else name
        if key not in self._known:
            self._known[key] = model(self._problem).least()
        return self._known[key]


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


def answered(
    name: str, solver: Solver, given: RandomProblem, seed: int, processes: SolverProcesses
) -> tuple[Task, Answer] | None:
    """Return the task and answer of a dispatcher whose decision is right; None if none was asked.

    Every second problem has list plans to start from, every third the papers' horizon.
    """
    formulation = (FORMULATIONS | VARIANTS)[name]
    recorded = Recorded(processes)
    dispatcher = asking(
        formulation,
        ModelCost(given.objective.planned_cost),
        "prb",
        ArrivalOrder(),
        options=SelectionOptions(
            "all", 100, None, aggregated=name.startswith("hcp19"), worst_case=seed % 3 == 0
        ),
        orders=ARRIVAL_AND_SHORTEST if seed % 2 else (),
        limits=Budget(solver.work),
        weighted=False,
        solver=recorded,
        backend=solver.backend,
    )
    decision = dispatcher.dispatch(given.problem)
    started = {job.job_id for job in check_decision(given.problem, decision)}
    if recorded.last is None:
        return None
    _, answer = recorded.last
    assert answer.status in ("optimal", "feasible", "unknown", "failed"), (name, answer)
    if answer.plan is not None and formulation.binds == "plan":
        assert fault_of(answer.plan, recorded.last[0].data) is None
        now = (answer.plan.starts == 0).nonzero()[0].tolist()
        assert started >= {given.problem.queue[i].job_id for i in now}
    return recorded.last


def check_answers(
    name: str, answers: dict[str, tuple[Task, Answer]], given: RandomProblem, optima: Optima
) -> list[str]:
    """Check what solvers say of a formulation; return those that have proved their answer."""
    proved = []
    for solver, (task, answer) in answers.items():
        if answer.plan is None:
            continue
        cost = given.reference.cost(answer.plan.starts.tolist())
        if name == "pcp21, shared":
            # Fewer positions are those of running jobs.
            assert cost >= optima["pcp19"], solver
            if answer.status == "optimal":
                assert cost <= optima["pcp21"], solver
        elif answer.status == "optimal":
            assert cost == optima[name], (name, solver)
        elif task.formulation.binds != "now":
            assert cost >= optima[name], (name, solver)
        if answer.status == "optimal":
            proved.append(solver)
    costs = {given.reference.cost(answers[solver][1].plan.starts.tolist()) for solver in proved}
    assert len(costs) <= 1, (name, answers)
    return proved


def check_order(optima: Optima, given: RandomProblem, counts: Compared) -> None:
    """Check how the optima of the papers' models are to each other."""
    first, counted, placed = optima["hcp19"], optima["pcp19"], optima["pcp20"]
    assert first <= counted == optima["pcp4"] <= placed == optima["pcp21"]
    idle = not given.reference.running
    if idle:
        assert counted == placed
    counts.problems["idle" if idle else "busy"] += 1
    counts.problems["slots"] += given.problem.free_slots is not None
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
            also = [list(VARIANTS)[(seed + k) % len(VARIANTS)] for k in (0, 3)]
            for name in (*names, *(also if variants else ())):
                answers = {}
                for solver, one in solvers.items():
                    found = answered(name, one, given, seed, processes)
                    assert found is not None
                    answers[solver] = found
                for solver in check_answers(name, answers, given, optima):
                    counts.proved[name, solver] += 1
            check_order(optima, given, counts)
    return counts


def worth_asking(first: int = 0) -> Iterator[tuple[int, RandomProblem]]:
    """Yield the problems, from a seed on, about which a dispatcher asks its solver."""
    with SolverProcesses() as processes:
        for seed in count(first):
            given = random_problem(seed)
            quick = Solver(ScheduleOrPostpone(), 0)
            if answered("hcp19", quick, given, seed, processes) is not None:
                yield seed, given


def test_formulations_have_one_optimum() -> None:
    """On eight problems: HCP'19, PCP'19 to PCP'21, search and CP-SAT, and models of the texts."""
    names = ("hcp19", "pcp19", "pcp20", "pcp21")
    counts = compared(islice(worth_asking(), 8), QUICK, names, variants=False)
    assert counts.by_solver("ortools") == 8 * len(names)
    assert counts.by_solver("schedule-or-postpone") >= 8 * len(names) - 4
    assert counts.problems["idle"] >= 1
    assert counts.problems["busy"] >= 3


@pytest.mark.slow
@pytest.mark.skipif(
    not (is_installed("choco") and is_installed("pumpkin")), reason="a solver is not installed"
)
@pytest.mark.parametrize("part", range(5))
def test_formulations_have_one_optimum_on_500_problems(part: int) -> None:
    """On a hundred problems each: all formulations, four solvers, and models of the texts."""
    names = (*PAPERS, *OURS)
    counts = compared(islice(worth_asking(1000 * part), 100), SOLVERS, names, variants=True)
    print(sorted(counts.problems.items()), sorted(counts.proved.items()))  # noqa: T201
    for name in names:
        for solver in SOLVERS:
            assert counts.proved[name, solver] >= 90, (name, solver)
    for name in VARIANTS:
        assert sum(counts.proved[name, solver] for solver in SOLVERS) >= 60, name
    assert counts.problems["idle"] >= 15
    assert counts.problems["busy"] >= 50
    for kind in ("slots", "shared resources", "unequal nodes", "HCP'19 below PCP'19"):
        assert counts.problems[kind] >= 5, kind
