"""Answers of dispatchers to recorded problems."""

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, Finding, HpcschedError, InputError
from hpcsched.plugin_faults import named
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.manifest import package_versions
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.resolved import differences
from hpcsched.simulation.check import (
    BadDecisionError,
    check_decision,
    dispatcher_raised,
)
from hpcsched.studies.problems.files import InstancesFile
from hpcsched.studies.problems.parts import answering_parts
from hpcsched.studies.problems.table import (
    FORMAT,
    PACKAGES,
    SUFFIX,
    About,
    Instances,
    Row,
    write_table,
)
from hpcsched.whole_files import check_target, make_folder

Problems = Iterable[DispatchingProblem]
Follow = Callable[[str, Problems], Problems]


class Answer(NamedTuple):
    """A problem, the decision, the jobs that it starts, and the real seconds that it took."""

    problem: DispatchingProblem
    decision: Decision
    started: Sequence[WaitingJob]
    decision_time: float


@dataclass(frozen=True, slots=True)
class Solved:
    """A written table: name of the scenario, path, number of problems, and rounds with a solver."""

    name: str
    path: Path
    problems: int
    solver: SolverRounds


def answers(problems: Problems, dispatcher: Dispatcher, name: str) -> Iterator[Answer]:
    """Ask a dispatcher one problem after another, and yield its answers.

    Parameters
    ----------
    problems
        The problems.
    dispatcher
        The dispatcher.
    name
        Its name in messages.

    Raises
    ------
    DecisionError
        If the dispatcher fails, or a decision could not be carried out.
    """
    told = named("dispatcher", dispatcher, name)
    for problem in problems:
        began = perf_counter()
        try:
            decision = dispatcher.dispatch(problem)
        except HpcschedError:
            raise
        except Exception as error:
            raise dispatcher_raised(told, problem.round, error) from error
        decision_time = perf_counter() - began
        try:
            started = check_decision(problem, decision)
        except BadDecisionError as error:
            raise DecisionError(f"{told}, round {problem.round}: {error}") from None
        yield Answer(problem, decision, started, decision_time)


def solve(
    instances: InstancesFile,
    scenarios: Sequence[Scenario],
    folder: Path,
    *,
    limit: int | None = None,
    force: bool = False,
    follow: Follow = lambda _, problems: problems,
) -> Iterator[Solved]:
    """Write a table for each scenario's dispatcher, and yield it when it is complete.

    Dispatcher, objective and seed of a scenario count; its system must be the file's. One
    dispatcher answers all problems in the order of the file.

    Parameters
    ----------
    instances
        The problems.
    scenarios
        Scenarios with different names.
    folder
        Folder of the tables.
    limit
        Largest number of problems; None for all.
    force
        True: replace existing tables.
    follow
        Wrapper of the problems of a scenario, such as a progress bar.

    Raises
    ------
    InputError
        If scenarios do not fit the file, have equal names, or a table exists.
    DecisionError
        If a dispatcher fails.
    """
    check_names(scenarios)
    for scenario in scenarios:
        check_system(instances, scenario)
    paths = [folder / f"{scenario.name}{SUFFIX}" for scenario in scenarios]
    make_folder(folder)
    # All targets are checked before the first dispatcher is asked, which may take hours.
    for path in paths:
        check_target(path, force=force)
    assemblies = [answering_parts(scenario) for scenario in scenarios]
    for assembly, path in zip(assemblies, paths, strict=True):
        scenario = assembly.scenario
        with write_table(path, _about(assembly, instances), force=force) as table:
            problems = follow(scenario.name, instances.problems(assembly.objective, limit))
            name = scenario.dispatcher.plugin_name
            statuses: Counter[str] = Counter()
            for answer in answers(problems, assembly.dispatcher, name):
                table.add(row_of(answer))
                if answer.decision.solver is not None:
                    statuses[answer.decision.solver.status] += 1
        yield Solved(scenario.name, path, table.written, solver_rounds(statuses))


def check_names(scenarios: Sequence[Scenario]) -> None:
    """Check that scenarios, and so their tables, have different names.

    Raises
    ------
    InputError
        If two have the same name.
    """
    counts = Counter(scenario.name for scenario in scenarios)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        message = f"two scenarios are called {twice[0]!r}, which would be the name of both tables"
        raise InputError(Finding("duplicate-name", message))


def check_system(instances: InstancesFile, scenario: Scenario) -> None:
    """Check that a scenario and the problems have the same system.

    Raises
    ------
    InputError
        If they differ.
    """
    # Compared as two scenarios, so that a difference is shown by its key path, as `hpcsched diff`
    # does.
    recorded = scenario.model_copy(update={"system": instances.header.system})
    changes = differences(recorded, scenario)
    if changes:
        shown = "; ".join(map(str, changes[:3])) + ("; …" if len(changes) > 3 else "")
        message = f"the system of {scenario.name} is not that of {instances.path}: {shown}"
        raise InputError(Finding("other-system", message))


def row_of(answer: Answer) -> Row:
    """Return the row of an answer."""
    problem, decision, started, decision_time = answer
    call = decision.solver
    return Row(
        problem.round,
        problem.now,
        len(problem.queue),
        len(problem.running),
        len(started),
        len(decision.rejected),
        sum(slowdown_now(job, problem.now) for job in started),
        decision_time,
        decision.fallback,
        *(
            (None,) * 10
            if call is None
            else (
                call.status,
                call.jobs,
                call.variables,
                call.objective,
                call.bound,
                call.build_time,
                call.transform_time,
                call.solve_time,
                call.branches,
                call.fails,
            )
        ),
    )


def slowdown_now(job: WaitingJob, now: int) -> float:
    """Return the slowdown of a job that starts now and runs as predicted."""
    return (now - job.submit_time + job.predicted_run_time) / job.predicted_run_time


def _about(assembly: Assembly, instances: InstancesFile) -> About:
    scenario = assembly.scenario
    return About(
        format=FORMAT,
        name=scenario.name,
        dispatcher=scenario.dispatcher.model_dump(mode="json"),
        objective=scenario.objective.model_dump(mode="json"),
        seed=scenario.seed,
        scenario=resolved_yaml(scenario),
        instances=Instances(
            file=str(instances.path),
            sha256=instances.sha256,
            scenario=instances.header.scenario_name,
        ),
        versions=package_versions(PACKAGES),
        plugins=assembly.distributions(scenario.dispatcher, scenario.objective),
        platform=platform.platform(),
    )
