"""Checks of solvers, executors and workload managers, which raise an AssertionError."""

import pickle
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import hpcsched
from hpcsched.dispatching.cp.backends.backend import Backend, Budget, Limits, Outcome, StoppingRule
from hpcsched.dispatching.cp.formulation import BuiltModel
from hpcsched.studies.executors.executor import RUN, Task, result_fault
from hpcsched.studies.executors.sample_program import TIMES
from hpcsched.system.cluster import ClusterJob, RefusedError, read_cluster
from hpcsched.testing.replaying import expect, expect_no, noted, under_test

BUDGET = Budget(5.0)
"""Work for a model of the check; far more than needed."""


def check_solver(make: Callable[[], Backend], *, budget: Budget = BUDGET) -> None:
    """Solve small models, and check the outcomes.

    The solver must be installed, can be pickled, and has whole numbers as its largest ones. It
    must find optima, with a bound that is not above them, with and without a warm start, under a
    budget and under a stopping rule; leave the solution in the model's variables; respect a
    constraint that is added later; and tell a model without a solution. A deterministic solver
    must find the same solution again.
    """
    backend = under_test(make, "solver")
    backend.check_installed()
    for name in ("largest", "largest_objective"):
        expect(
            getattr(backend, name) >= 1, f"expected {name} of at least 1", getattr(backend, name)
        )
    try:
        backend = pickle.loads(pickle.dumps(backend))
    except Exception as error:
        message = f"expected a backend that can be pickled, found {type(error).__name__}: {error}"
        raise AssertionError(message) from error
    for limits in (budget, StoppingRule(1.0, 4.0, 1)):
        for warm_start in (False, True):
            with noted(
                f"{type(limits).__name__}, {'with' if warm_start else 'without'} a warm start"
            ):
                _check_solutions(backend, limits, warm_start=warm_start)
    if backend.deterministic:
        values = [_free_solution(backend, budget) for _ in range(3)]
        expect(values[0] == values[1] == values[2], "expected the same solution again", values)


def _check_solutions(backend: Backend, limits: Limits, *, warm_start: bool) -> None:
    """Minimise z = x + y where x >= 3 and y > x, then with y != 4 too, and at last with x <= 2."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    x, y, z = variables = [cp.intvar(0, 9, name=name) for name in "xyz"]
    model = cp.Model([x >= 3, y >= x + 1, z == x + y])
    model.minimize(z)
    session = backend.load(_built(model, variables))
    hint = {x: 5, y: 6, z: 11} if warm_start else None
    for values, added in (([3, 4, 7], ""), ([3, 5, 8], "with y != 4 added: ")):
        if added:
            session.add(y != 4)
        outcome: object = session.solve(limits, None if added else hint)
        if not isinstance(outcome, Outcome):
            raise AssertionError(f"{added}expected an Outcome, found {outcome!r}")
        status, objective, bound = outcome.status, outcome.objective, outcome.bound
        expect(
            (status, objective) == ("optimal", values[2]),
            f"{added}expected 'optimal' with the objective {values[2]}, found {status!r} with"
            f" {objective!r}",
        )
        expect(
            bound is None or bound <= values[2],
            f"{added}expected a bound of at most {values[2]}",
            bound,
        )
        found = [variable.value() for variable in variables]
        expect(found == values, f"{added}expected x, y, z = {values} in the variables", found)
    model.constraints.append(x <= 2)
    outcome = backend.load(_built(model, variables)).solve(limits, None)
    infeasible = isinstance(outcome, Outcome) and outcome.status == "infeasible"
    expect(infeasible, "expected 'infeasible' of x >= 3 and x <= 2", outcome)


def _built(model: Any, variables: list[Any]) -> BuiltModel:
    no_plan = np.zeros((0, 0), dtype=np.int64)
    return BuiltModel(model, variables, lambda: no_plan, lambda _plan: {})


def _free_solution(backend: Backend, limits: Limits) -> list[int]:
    """Return a solution of a model with many optima."""
    import cpmpy as cp  # noqa: PLC0415 (slow to import)

    variables = [cp.intvar(0, 9, name=f"v{k}") for k in range(4)]
    model = cp.Model([cp.sum(variables) >= 12])
    model.minimize(cp.sum(variables))
    backend.load(_built(model, variables)).solve(limits, None)
    return [variable.value() for variable in variables]


_PROGRAM = "hpcsched.studies.executors.sample_program"
_FAILURE = "this task fails"


def check_executor(make: Callable[[Path], hpcsched.Executor], *, seconds: float = 0.2) -> None:
    """Run small tasks, and check their results.

    Each task must be announced by `started` before its result, and give one result. One that fails
    must say why, and be no exception; one that ends well must leave its run in the folder of its
    attempt, which is its own. No more tasks may run at a time than allowed. When the results are
    closed early, no further task may begin.

    Parameters
    ----------
    seconds
        Real seconds that each task sleeps.
    """
    for limit in (1, 2, None):
        with TemporaryDirectory() as name:
            _check_results(make, Path(name), limit, seconds)
    with TemporaryDirectory() as name:
        begun: list[str] = []
        tasks = _tasks(Path(name), seconds)
        results: Any = make(Path(name)).run(tasks, 1, lambda task: begun.append(task.name))
        closes = hasattr(results, "close")
        expect(closes, "expected a generator, which can be closed", results)
        with closing(results):
            next(results)
        expect(len(begun) < len(tasks), "expected no task to begin after closing, found all begun")
        found = list(make(Path(name)).run([], None, print))
        expect(not found, "expected no result without tasks", found)


def _tasks(folder: Path, seconds: float) -> list[Task]:
    texts = [str(seconds), _FAILURE, str(seconds), str(seconds)]
    return [Task(f"task-{k}", _PROGRAM, text, (), folder) for k, text in enumerate(texts)]


def _check_results(
    make: Callable[[Path], hpcsched.Executor], folder: Path, limit: int | None, seconds: float
) -> None:
    executor = under_test(lambda: make(folder), "executor")
    tasks = _tasks(folder, seconds)
    begun: list[str] = []
    left = {task.name for task in tasks}
    attempts: set[Path] = set()
    times: list[tuple[float, float]] = []
    for ended in executor.run(tasks, limit, lambda task: begun.append(task.name)):
        expect_no(result_fault(ended, left))
        name, attempt = ended.task.name, ended.attempt
        left.discard(name)
        calls = begun.count(name)
        expect(calls == 1, f"{name}: expected one call of started before the result", calls)
        expect(attempt not in attempts, f"{name}: expected an attempt of its own", attempt)
        if ended.task.scenario == _FAILURE:
            expected = f"{name}: expected the message of its program, {_FAILURE!r}"
            expect(_FAILURE in ended.message, expected, ended.message)
            continue
        expect(not ended.message, f"{name}: expected no message", ended.message)
        assert attempt is not None
        attempts.add(attempt)
        path = attempt / RUN / TIMES
        expect(path.is_file(), f"{name}: expected its run in {RUN!r} of its attempt, found none")
        began, end = map(float, path.read_text(encoding="utf-8").split())
        times.append((began, end))
        expect(ended.seconds >= 0, f"{name}: expected seconds of at least 0", ended.seconds)
    expect(not left, f"expected a result of each task, found none of {min(left, default='')}")
    for instant, _ in times:
        running = sum(began <= instant < end for began, end in times)
        most = limit or len(tasks)
        expect(running <= most, f"expected at most {most} tasks at a time", running)


def check_workload_manager(make: Callable[[], hpcsched.WorkloadManager]) -> None:
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
    """
    manager = under_test(make, "workload_manager")
    state = read_cluster(manager)
    job = next((job for job in state.jobs if job.held and job.phase == "waiting"), None)
    if job is None:
        raise AssertionError("expected a cluster with a held job that waits, found none")
    usable = [node.name for node in state.nodes if node.usable]
    nodes = usable[: job.units if job.one_unit_per_node else 1]
    unknown = job._replace(key=f"{job.key}-unknown", job_id=job.job_id + 10**6)
    _expect_refused(lambda: manager.start(unknown, nodes), "start of a job that is not there")
    _expect_refused(lambda: manager.hold(unknown), "hold of a job that is not there")

    manager.start(job, nodes)
    started, whose = _state_of(job, manager), f"job {job.key}: expected it"
    runs = started.phase == "running"
    expect(not started.held, f"{whose} held no more after start, found it held")
    bound = sorted(started.placed if runs else started.wanted)
    expect(bound == sorted(nodes), f"{whose} on {nodes}", bound)
    _expect_refused(lambda: manager.start(job, nodes), "start of a job that is not held")
    if runs:
        _expect_refused(lambda: manager.hold(job), "hold of a job that runs")
        return
    manager.hold(job)
    again = _state_of(job, manager)
    told = f"found held={again.held}, wanted={again.wanted}"
    free = again.held and not again.wanted
    expect(free, f"{whose} held, and bound to no node, after hold; {told}")


def _state_of(job: ClusterJob, manager: hpcsched.WorkloadManager) -> ClusterJob:
    for other in read_cluster(manager).jobs:
        if other.key == job.key:
            return other
    raise AssertionError(f"job {job.key}: expected it still there, found it gone")


def _expect_refused(change: Callable[[], object], what: str) -> None:
    try:
        change()
    except RefusedError:
        return
    raise AssertionError(f"{what}: expected RefusedError, found none")
