"""The solvers beside OR-Tools: on tiny models what OR-Tools says, and what limits do to them."""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import cpmpy as cp
import numpy as np
import pytest
from hypothesis import given, settings

from hpcsched import cli
from hpcsched.dispatching.cp.backends.any_solver import AnySolver
from hpcsched.dispatching.cp.backends.backend import (
    Backend,
    Budget,
    Limits,
    Outcome,
    StoppingRule,
    total,
)
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone
from hpcsched.dispatching.cp.formulation import BuiltModel, Formulation
from hpcsched.dispatching.cp.solver_process import Answer, SolverProcess, Task, solve
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.errors import PluginError
from hpcsched.plugins.index import built_in
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.scenario.review import not_reproducible
from tests.dispatching.cp.backends.solver_processes import SolverProcesses
from tests.dispatching.cp.making import FORMULATIONS
from tests.dispatching.cp.tiny import SMALL, SMALLEST, Size, tiny_data
from tests.strategies import tries

ROOT = Path(__file__).parents[4]
SCENARIO = ROOT / "scenarios" / "small-joint-now.yaml"
QUICK = Size(jobs=3, nodes=2, types=2, units=2, run_time=3, capacity=3)


class Case(NamedTuple):
    """A solver, and a budget that is ample for tiny models."""

    backend: Backend
    work: float


CASES = {
    "choco": Case(AnySolver("choco"), 10),
    "pumpkin": Case(AnySolver("pumpkin"), 10),
    "z3": Case(AnySolver("z3"), 20),
    "exact": Case(AnySolver("exact"), 20),
}
PROPAGATING = ("choco", "pumpkin")
WITHOUT_PROPAGATION = ("z3", "exact")
"""Solvers that take longer."""

NAMES = [row.name for row in built_in() if row.kind == "solver"]


MODULES = {"choco": "pychoco", "exact": "exact", "pumpkin": "pumpkin_solver", "z3": "z3"}


def is_installed(name: str) -> bool:
    """Say whether the package of a solver is installed."""
    return find_spec(MODULES[name]) is not None


def cases(*names: str) -> pytest.MarkDecorator:
    """Return a mark that runs a test with these solvers, as far as they are installed."""
    params = []
    for name in names:
        module = MODULES[name]
        absent = pytest.mark.skipif(not is_installed(name), reason=f"{module} is not installed")
        params.append(pytest.param(CASES[name], id=name, marks=absent))
    return pytest.mark.parametrize("case", params)


formulations = pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)


def times(count: int) -> settings:
    """Return settings for so many examples, whatever `HPCSCHED_EXAMPLES` says."""
    return settings(max_examples=count, deadline=None)


def list_plan(data: ModelData) -> Plan:
    """Return a plan to start from."""
    return ListPlanner(data).plan(range(data.job_count))


def plan_of(built: BuiltModel) -> Plan:
    """Return the plan that is in the variables of a model."""
    starts = [start if isinstance(start, int) else start.value() for start in built.starts]
    return Plan(np.array([start or 0 for start in starts], dtype=np.int64), built.placed())


def answer(
    backend: Backend,
    formulation: Formulation,
    data: ModelData,
    limits: Limits,
    hint: Plan | None = None,
) -> tuple[Outcome, Plan | None]:
    """Return what a solver says of a model that is solved once, and its plan, checked."""
    built = formulation.build(data)
    outcome = backend.load(built).solve(limits, built.hint(hint) if hint else None)
    plan = None if outcome.objective is None else plan_of(built)
    check_plan(formulation, data, outcome, plan)
    return outcome, plan


def check_plan(
    formulation: Formulation, data: ModelData, found: Outcome | Answer, plan: Plan | None
) -> None:
    """Check that a plan goes with the rest of an answer, and can be carried out."""
    if found.objective is None or plan is None:
        assert (found.objective, plan) == (None, None)
        assert found.status in ("unknown", "infeasible")
        return
    assert found.status in ("optimal", "feasible")
    assert found.bound is None or found.bound <= found.objective
    if formulation.binds == "plan":
        assert fault_of(plan, data) is None
        cost = data.cost(plan.starts)
        # Until there is a proof, what stands for max(start, free) may be larger than it has to be.
        assert cost <= found.objective
        assert cost == found.objective or found.status == "feasible"


@pytest.fixture(scope="module")
def processes() -> Iterator[SolverProcesses]:
    """Return a process for each solver."""
    with SolverProcesses() as processes:
        yield processes


def check_examples(
    processes: SolverProcesses,
    solvers: Sequence[str],
    formulation: Formulation,
    size: Size,
    count: settings,
) -> None:
    """Check that solvers say nothing but what OR-Tools has proved, and lose few answers."""
    present = [
        name
        for name in solvers
        # Pumpkin takes no variables as demands.
        if is_installed(name) and (name, formulation.name) != ("pumpkin", "PCP₄")
    ]
    if not present:
        pytest.skip("none of the packages is installed")

    @count
    @given(data=tiny_data(size))
    def check(data: ModelData) -> None:
        expected, _ = answer(OrTools(), formulation, data, Budget(60))
        assert expected.status == "optimal"
        assert expected.objective is not None
        for name, hint in product(present, (None, list_plan(data))):
            backend, work = CASES[name]
            found = processes.solve(Task(formulation, data, backend, Budget(work), hint))
            if found is None:
                continue
            assert found.status in ("optimal", "feasible", "unknown"), name
            check_plan(formulation, data, found, found.plan)
            # A bound is there only where a solver has proved that it is the least objective.
            assert found.bound in (None, expected.objective), name
            if found.status == "optimal":
                assert found.objective == expected.objective, name
            elif found.objective is not None:
                assert found.objective >= expected.objective, name

    with processes.few_lost():
        check()


def crowd(jobs: int = 9) -> ModelData:
    """Return data whose optimum takes a while to prove: many jobs on two kinds of nodes."""
    number = np.arange(jobs)
    requests = np.column_stack((1 + number % 3, (number * 5) % 4))
    capacity = np.array([[4, 3], [4, 3], [5, 6]])
    asked = np.maximum(requests, 1)
    room = np.minimum.reduce(
        [
            np.where(requests[:, r : r + 1] > 0, capacity[:, r] // asked[:, r : r + 1], 9)
            for r in range(2)
        ]
    )
    run_times = 2 + (number * 7) % 11
    none = np.zeros(0, dtype=np.int64)
    return ModelData(
        1 + number % 2,
        requests,
        run_times,
        capacity,
        room,
        none,
        none,
        none.reshape(0, 2),
        60 // run_times[np.newaxis],
        np.zeros((1, jobs), dtype=np.int64),
        0,
        int(run_times.sum()),
    )


@formulations
def test_what_is_proved_is_what_ortools_proves(processes, formulation):
    """Optima are equal, and no solver calls a model infeasible that has solutions."""
    check_examples(processes, PROPAGATING, formulation, QUICK, tries(3))


@formulations
def test_what_is_proved_is_what_ortools_proves_in_the_smallest_models(processes, formulation):
    """As above, for solvers that take longer."""
    check_examples(processes, WITHOUT_PROPAGATION, formulation, SMALLEST, tries(3))


@pytest.mark.slow
@formulations
def test_what_is_proved_is_what_ortools_proves_often(processes, formulation):
    """As above, a thousand times, in larger models."""
    check_examples(processes, PROPAGATING, formulation, SMALL, times(1000))


@pytest.mark.slow
@formulations
def test_what_is_proved_is_what_ortools_proves_more_often(processes, formulation):
    """As above, a hundred times."""
    check_examples(processes, WITHOUT_PROPAGATION, formulation, QUICK, times(100))


@cases(*CASES)
@pytest.mark.parametrize("hinted", [False, True], ids=["from nothing", "from a hint"])
def test_every_solver_can_prove_an_optimum(case, hinted):
    """What the properties say of proofs is not about nothing."""
    data = crowd(4)
    hint = list_plan(data) if hinted else None
    outcome, _ = answer(case.backend, FORMULATIONS["hcp19"], data, Budget(case.work), hint)
    expected, _ = answer(OrTools(), FORMULATIONS["hcp19"], data, Budget(60))
    assert outcome[:3] == ("optimal", expected.objective, expected.objective)


def test_cp_sat_tells_of_branches_and_conflicts():
    """Also where there is no plan yet."""
    built = FORMULATIONS["pcp4"].build(crowd(9))
    outcome = OrTools().load(built).solve(Budget(0.5), None)
    assert outcome.branches > 0
    assert outcome.fails > 0


def test_several_threads_of_cp_sat():
    """They are built, prove an optimum, and the run says that it is not reproducible."""
    name = "dispatcher={name: joint-now, solver: {name: ortools, workers: 2}}"
    loaded = load_scenario(SCENARIO, [name])
    assert [why for _, why in not_reproducible(loaded)] == [
        "several threads of CP-SAT race for plans"
    ]
    assert assemble(loaded).dispatcher is not None
    outcome, _ = answer(OrTools(workers=2), FORMULATIONS["hcp19"], crowd(4), Budget(60))
    expected, _ = answer(OrTools(), FORMULATIONS["hcp19"], crowd(4), Budget(60))
    assert outcome[:3] == expected[:3] == ("optimal", expected.objective, expected.objective)


def test_searches_that_start_anew_are_counted_together():
    """Two searches of 3 and 4 branches, of which one tells of fails, came to 7 and 2."""
    assert total([3, 4]) == 7
    assert total([None, 2]) == 2
    assert total([None, None]) is None


@cases(*CASES)
def test_a_tiny_budget_ends_the_search(case):
    """There is a plan that can be carried out, or none; nothing is proved."""
    data = crowd(12)
    outcome, _ = answer(case.backend, FORMULATIONS["pcp19"], data, Budget(1e-6), list_plan(data))
    assert outcome.status in ("unknown", "feasible")


@cases(*CASES)
def test_time_limits_end_the_search(case):
    """With a stopping rule there is one call, of the largest limit."""
    data = crowd(6)
    rule = StoppingRule(first=0.1, most=0.3, extensions=1)
    outcome, _ = answer(case.backend, FORMULATIONS["pcp19"], data, rule, list_plan(data))
    assert outcome.status != "infeasible"


@cases(*CASES)
def test_a_model_can_be_solved_again_with_one_more_constraint(case):
    """The first plan is ruled out, so that another one comes."""
    data = crowd(3)
    built = FORMULATIONS["hcp19"].build(data)
    session = case.backend.load(built)
    first = session.solve(Budget(case.work), None)
    starts = [start.value() for start in built.starts]
    different = cp.any([s != value for s, value in zip(built.starts, starts, strict=True)])
    session.add(different)
    again = session.solve(Budget(case.work), None)
    assert first.status == again.status == "optimal"
    assert again.objective >= first.objective
    assert [start.value() for start in built.starts] != starts


@formulations
def test_numbers_that_32_bits_do_not_hold_are_refused(formulation, monkeypatch):
    """We see it ourselves: the solver is not asked."""

    def load(*_: object) -> None:
        raise AssertionError("the solver is asked")

    backend = AnySolver("pumpkin")
    monkeypatch.setattr(AnySolver, "load", load)
    assert max(backend.largest, backend.largest_objective) < 1 << 31
    data = crowd(3)
    long = data.run_times * backend.largest
    large = data.__class__(**{**vars_of(data), "run_times": long, "horizon": int(long.sum())})
    refused = solve(Task(formulation, large, backend, Budget(1)))
    assert refused.status == "overflow"
    assert refused.plan is None


def vars_of(data: ModelData) -> dict[str, Any]:
    """Return the fields of data."""
    return {name: getattr(data, name) for name in data.__dataclass_fields__}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_adapters_can_be_sent_to_a_process(case):
    """An adapter is what it was after it was pickled."""
    assert pickle.loads(pickle.dumps(case.backend)) == case.backend


@pytest.mark.slow
@cases(*CASES)
def test_solvers_work_in_a_process_of_their_own(case):
    """What comes back is a plan."""
    data = crowd(4)
    with closing(SolverProcess()) as solver:
        task = Task(
            FORMULATIONS["joint-now"], data, case.backend, Budget(case.work), list_plan(data)
        )
        for _ in range(2):
            found = solver.solve(task, 60)
            assert (found.status, found.why) == ("optimal", "")


class TestAnySolver:
    """Solvers that are named to CPMpy alone."""

    @pytest.mark.parametrize("solver", ["simplex", "gurobi"])
    def test_a_solver_that_is_not_there_is_named(self, solver, tmp_path, capsys):
        """Before anything runs: by `run` and by `validate`."""
        message = f"expected a solver that CPMpy finds installed, found '{solver}'; CPMpy knows ch"
        setting = f"dispatcher={{name: joint-now, solver: {{name: cpmpy, solver: {solver}}}}}"
        for command in (["validate"], ["run", "--out", str(tmp_path / "run")]):
            assert cli.main([command[0], str(SCENARIO), *command[1:], "--set", setting]) == 1
            printed = capsys.readouterr()
            assert message in printed.out + printed.err
        assert not list(tmp_path.iterdir())


@cases("choco", "pumpkin", "z3", "exact")
def test_installed_packages_are_found(case):
    """Nothing is said of what is there."""
    case.backend.check_installed()


@pytest.mark.parametrize("name", NAMES)
def test_a_solver_that_stops_by_the_clock_is_recorded(name):
    """What depends on the machine is what the adapter says of itself."""
    solver = "{name: cpmpy, solver: z3}" if name == "cpmpy" else name
    scenario = load_scenario(SCENARIO, [f"dispatcher={{name: joint-now, solver: {solver}}}"])
    ours = {
        "cpmpy": AnySolver("z3"),
        "ortools": OrTools(),
        "schedule-or-postpone": ScheduleOrPostpone(),
    }
    backend = ours[name]
    reasons = [] if backend.deterministic else [f"the solver {name} stops by the clock"]
    assert [why for _, why in not_reproducible(scenario)] == reasons


def test_a_solver_has_to_say_that_it_stops_by_the_clock(monkeypatch):
    """Otherwise results would be called reproducible that are not."""
    monkeypatch.setattr(OrTools, "deterministic", property(lambda _: False))
    with pytest.raises(PluginError, match=r"solver ortools.*: expected parameters that say in"):
        assemble(load_scenario(SCENARIO)).build_all()
