"""Checks of solvers, executors and workload managers."""

import pickle
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, Budget, Limits, Outcome, StoppingRule
from hpcsched.dispatching.cp.formulation import BuiltModel, Variable
from hpcsched.dispatching.planning.model_data import Plan
from hpcsched.plugins.plugin_checks import product_fault
from hpcsched.studies.executors.executor import RUN, Ended, Executor, Task, result_fault
from hpcsched.studies.executors.sample_program import TIMES
from hpcsched.system.cluster import (
    ClusterJob,
    ClusterState,
    RefusedError,
    WorkloadManager,
    checked_state,
)
from hpcsched.system.system import IntArray
from hpcsched.testing.replaying import expect

BUDGET = Budget(5.0)
"""Work for a model of the check; far more than needed."""


def check_solver(make: Callable[[], Backend], *, budget: Budget = BUDGET) -> None:
    """Solve small models, and check the outcomes.

    The solver must be installed, can be pickled, and has whole numbers as its largest ones. It
    must find optima, with a bound that is not above them, with and without a warm start, under a
    budget and under a stopping rule; leave the solution in the model's variables; respect a
    constraint that is added later; and tell a model without a solution. A deterministic solver
    must find the same solution again.

    Raises
    ------
    AssertionError
        If an outcome is wrong.
    PluginError
        If the solver is not installed.
    """
    backend = make()
    expect(product_fault(backend, "solver"))
    backend.check_installed()
    for name in ("largest", "largest_objective"):
        if getattr(backend, name) < 1:
            message = f"expected {name} of at least 1, found {getattr(backend, name)}"
            raise AssertionError(message)
    try:
        backend = pickle.loads(pickle.dumps(backend))
    except Exception as error:
        message = f"expected a backend that can be pickled, found {type(error).__name__}: {error}"
        raise AssertionError(message) from error
    for limits in (budget, StoppingRule(1.0, 4.0, 1)):
        _check_optimum(backend, limits)
    _check_no_solution(backend, budget)
    if backend.deterministic:
        values = [_values(backend, budget) for _ in range(3)]
        if values[0] != values[1] or values[0] != values[2]:
            raise AssertionError(f"expected the same solution again, found {values}")


def _nothing() -> IntArray:
    return np.zeros((0, 0), dtype=np.int64)


def _no_hint(_plan: Plan) -> dict[Variable, int]:
    return {}


def _model() -> tuple[BuiltModel, list[Any]]:
    """Return a model with the minimum 7, at x = 3 and y = 4."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    x, y, z = (cp.intvar(0, 9, name=name) for name in "xyz")
    model = cp.Model([x >= 3, y >= x + 1, z == x + y])
    model.minimize(z)
    return BuiltModel(model, [x, y, z], _nothing, _no_hint), [x, y, z]


def _check_optimum(backend: Backend, limits: Limits) -> None:
    for warm in (False, True):
        built, variables = _model()
        x, y, z = variables
        session = backend.load(built)
        hint = {x: 5, y: 6, z: 11} if warm else None
        what = f"{type(limits).__name__}, {'with' if warm else 'without'} a warm start"
        _expect(session.solve(limits, hint), 7, variables, [3, 4, 7], what)
        session.add(y != 4)
        _expect(session.solve(limits, None), 8, variables, [3, 5, 8], f"{what}, with y != 4 added")


def _expect(
    outcome: object, objective: int, variables: list[Any], values: list[int], what: str
) -> None:
    if not isinstance(outcome, Outcome):
        raise AssertionError(f"{what}: expected an Outcome, found {outcome!r}")
    if outcome.status != "optimal" or outcome.objective != objective:
        raise AssertionError(
            f"{what}: expected 'optimal' with the objective {objective}, found"
            f" {outcome.status!r} with {outcome.objective!r}"
        )
    if outcome.bound is not None and outcome.bound > objective:
        raise AssertionError(
            f"{what}: expected a bound of at most {objective}, found {outcome.bound!r}"
        )
    found = [variable.value() for variable in variables]
    if found != values:
        raise AssertionError(f"{what}: expected x, y, z = {values} in the variables, found {found}")


def _check_no_solution(backend: Backend, limits: Limits) -> None:
    built, (x, *_) = _model()
    built.model.constraints.append(x <= 2)
    outcome = backend.load(built).solve(limits, None)
    if not isinstance(outcome, Outcome) or outcome.status != "infeasible":
        raise AssertionError(f"expected 'infeasible' of x >= 3 and x <= 2, found {outcome!r}")


def _values(backend: Backend, limits: Limits) -> list[int]:
    """Return a solution of a model with many optima."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    variables = [cp.intvar(0, 9, name=f"v{k}") for k in range(4)]
    model = cp.Model([cp.sum(variables) >= 12])
    model.minimize(cp.sum(variables))
    built = BuiltModel(model, variables, _nothing, _no_hint)
    backend.load(built).solve(limits, None)
    return [variable.value() for variable in variables]


PROGRAM = "hpcsched.studies.executors.sample_program"
FAILURE = "this task fails"


def check_executor(make: Callable[[Path], Executor], *, seconds: float = 0.2) -> None:
    """Run small tasks, and check their results.

    Each task must be announced by `started` before its result, and give one result. One that fails
    must say why, and be no exception; one that ends well must leave its run in the folder of its
    attempt, which is its own. No more tasks may run at a time than allowed. When the results are
    closed early, no further task may begin.

    Parameters
    ----------
    seconds
        Real seconds that each task sleeps.

    Raises
    ------
    AssertionError
        If a result is wrong.
    """
    for limit in (1, 2, None):
        with TemporaryDirectory() as name:
            executor = make(Path(name))
            expect(product_fault(executor, "executor"))
            _check_all(executor, Path(name), limit, seconds)
    with TemporaryDirectory() as name:
        _check_closing(make(Path(name)), Path(name), seconds)
    with TemporaryDirectory() as name:
        found = list(make(Path(name)).run([], None, print))
        if found:
            raise AssertionError(f"expected no result without tasks, found {found!r}")


def _tasks(folder: Path, seconds: float) -> list[Task]:
    texts = [str(seconds), FAILURE, str(seconds), str(seconds)]
    return [Task(f"task-{k}", PROGRAM, text, (), folder) for k, text in enumerate(texts)]


def _check_all(executor: Executor, folder: Path, limit: int | None, seconds: float) -> None:
    tasks = _tasks(folder, seconds)
    begun: list[str] = []
    left = {task.name for task in tasks}
    attempts: set[Path] = set()
    times: list[tuple[float, float]] = []
    results: Any = executor.run(tasks, limit, lambda task: begun.append(task.name))
    for ended in results:
        expect(result_fault(ended, left))
        name = ended.task.name
        left.discard(name)
        if begun.count(name) != 1:
            raise AssertionError(
                f"{name}: expected one call of started before the result, found {begun.count(name)}"
            )
        if ended.attempt is not None:
            if ended.attempt in attempts:
                raise AssertionError(
                    f"{name}: expected an attempt of its own, found {ended.attempt}"
                )
            attempts.add(ended.attempt)
        times += _check_end(ended)
    if left:
        raise AssertionError(f"expected a result of each task, found none of {min(left)}")
    _check_limit(times, limit)


def _check_end(ended: Ended) -> list[tuple[float, float]]:
    """Check the end of a task; return its begin and end if it ended well."""
    name = ended.task.name
    if ended.task.scenario == FAILURE:
        if FAILURE not in ended.message:
            raise AssertionError(
                f"{name}: expected the message of its program, {FAILURE!r}, found {ended.message!r}"
            )
        return []
    if ended.message or ended.attempt is None:
        raise AssertionError(f"{name}: expected no message, found {ended.message!r}")
    path = ended.attempt / RUN / TIMES
    if not path.is_file():
        raise AssertionError(f"{name}: expected its run in {RUN!r} of its attempt, found none")
    began, end = map(float, path.read_text(encoding="utf-8").split())
    if ended.seconds < 0:
        raise AssertionError(f"{name}: expected seconds of at least 0, found {ended.seconds}")
    return [(began, end)]


def _check_limit(times: list[tuple[float, float]], limit: int | None) -> None:
    if limit == 1:
        for (_, end), (began, _) in pairwise(sorted(times)):
            if began < end:
                raise AssertionError("expected one task at a time, found two")
    elif limit is not None:
        for instant, _ in times:
            running = sum(1 for began, end in times if began <= instant < end)
            if running > limit:
                raise AssertionError(f"expected at most {limit} tasks at a time, found {running}")


def _check_closing(executor: Executor, folder: Path, seconds: float) -> None:
    tasks = _tasks(folder, seconds)
    begun: list[str] = []
    results: Any = executor.run(tasks, 1, lambda task: begun.append(task.name))
    if not hasattr(results, "close"):
        raise AssertionError(f"expected a generator, which can be closed, found {results!r}")
    with closing(results):
        next(results)
    if len(begun) == len(tasks):
        raise AssertionError("expected no task to begin after closing, found all begun")


def check_workload_manager(make: Callable[[], WorkloadManager]) -> None:
    """Read a cluster, start and hold its held jobs, and check the states in between.

    Every state must be complete: nodes and jobs once each, running jobs with their start and their
    place. A held job that is started must be held no more, and be bound to its nodes or run there;
    a job that is not held, or is not there, must be refused; a job that has not started can be
    held again.

    Parameters
    ----------
    make
        Function that returns a manager of a cluster with a job that waits, is held, and fits on
        the first usable nodes. It is changed: never a cluster in use.

    Raises
    ------
    AssertionError
        If the manager is wrong.
    """
    manager = make()
    expect(product_fault(manager, "workload_manager"))
    state = _read(manager)
    held = [job for job in state.jobs if job.held and job.phase == "waiting"]
    if not held:
        raise AssertionError("expected a cluster with a held job that waits, found none")
    job = held[0]
    usable = [node.name for node in state.nodes if node.usable]
    nodes = usable[: job.units if job.one_unit_per_node else 1]
    unknown = job._replace(key=f"{job.key}-unknown", job_id=job.job_id + 10**6)
    _expect_refused(manager.start, "start of a job that is not there", unknown, nodes)
    _expect_refused(manager.hold, "hold of a job that is not there", unknown)

    manager.start(job, nodes)
    started = _job(_read(manager), job)
    runs = started.phase == "running"
    if started.held:
        raise AssertionError(f"job {job.key}: expected it held no more after start, found it held")
    bound = set(started.placed) if runs else set(started.wanted)
    if bound != set(nodes):
        raise AssertionError(f"job {job.key}: expected it on {nodes}, found {sorted(bound)}")
    _expect_refused(manager.start, "start of a job that is not held", job, nodes)
    if runs:
        _expect_refused(manager.hold, "hold of a job that runs", job)
        return
    manager.hold(job)
    again = _job(_read(manager), job)
    if not again.held or again.wanted:
        raise AssertionError(
            f"job {job.key}: expected it held, and bound to no node, after hold; found"
            f" held={again.held}, wanted={again.wanted}"
        )


def _read(manager: WorkloadManager) -> ClusterState:
    try:
        return checked_state(manager.read())
    except ValueError as error:
        raise AssertionError(f"read: {error}") from error


def _job(state: ClusterState, job: ClusterJob) -> ClusterJob:
    found = [other for other in state.jobs if other.key == job.key]
    if not found:
        raise AssertionError(f"job {job.key}: expected it still there, found it gone")
    return found[0]


def _expect_refused(change: Callable[..., object], what: str, *arguments: Any) -> None:
    try:
        change(*arguments)
    except RefusedError:
        return
    raise AssertionError(f"{what}: expected RefusedError, found none")
