"""Asks dispatchers the recorded problems again, and keeps how each was answered."""

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, Finding, HpcschedError, InputError
from hpcsched.problems.files import InstancesFile
from hpcsched.problems.parts import answering_parts
from hpcsched.problems.table import (
    FORMAT,
    SUFFIX,
    About,
    Instances,
    Row,
    versions,
    write_table,
)
from hpcsched.problems.whole_files import check_target, make_folder
from hpcsched.results.solver_rounds import SolverRounds, solver_rounds
from hpcsched.runs.assembly import Assembly
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.difference import differences
from hpcsched.simulation.check import BadDecisionError, check_decision

Problems = Iterable[DispatchingProblem]
Follow = Callable[[str, Problems], Problems]


class Answer(NamedTuple):
    """A problem, the decision, the jobs that it starts now, and the real seconds that it took."""

    problem: DispatchingProblem
    decision: Decision
    started: Sequence[WaitingJob]
    decision_time: float


@dataclass(frozen=True, slots=True)
class Solved:
    """A table that was written: whose dispatcher answered how many problems, and its solver."""

    name: str
    path: Path
    problems: int
    solver: SolverRounds


def answers(problems: Problems, dispatcher: Dispatcher, name: str) -> Iterator[Answer]:
    """Ask a dispatcher one problem after another, and yield what it says.

    `name` is the dispatcher's, for messages. Raises DecisionError where it fails, or a decision
    could not be carried out.
    """
    for problem in problems:
        began = perf_counter()
        try:
            decision = dispatcher.dispatch(problem)
        except HpcschedError:
            raise
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise DecisionError(f"dispatcher {name}, round {problem.round}: {what}") from error
        decision_time = perf_counter() - began
        try:
            started = check_decision(problem, decision)
        except BadDecisionError as error:
            raise DecisionError(f"dispatcher {name}, round {problem.round}: {error}") from None
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
    """Write a table for each scenario's dispatcher, and yield it when it is there.

    Of a scenario the dispatcher, the objective and the seed count; its system must be the file's.
    One dispatcher answers all problems, at most `limit`, in the order of the file. `follow` is
    given each scenario's name and its problems, and returns them. Raises InputError where scenarios
    do not fit the file, bear the same name, or a table is there already, unless `force`; and
    DecisionError where a dispatcher fails.
    """
    check_names(scenarios)
    for scenario in scenarios:
        check_system(instances, scenario)
    paths = [folder / f"{scenario.name}{SUFFIX}" for scenario in scenarios]
    make_folder(folder)
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
    """Raise InputError where two scenarios bear the same name, which is their table's."""
    counts = Counter(scenario.name for scenario in scenarios)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        message = f"two scenarios are called {twice[0]!r}, which would be the name of both tables"
        raise InputError(Finding("duplicate-name", message))


def check_system(instances: InstancesFile, scenario: Scenario) -> None:
    """Raise InputError unless a scenario's system is the one that the problems are about."""
    recorded = scenario.model_copy(update={"system": instances.header.system})
    changes = differences(recorded, scenario)
    if changes:
        shown = "; ".join(map(str, changes[:3])) + ("; …" if len(changes) > 3 else "")
        message = f"the system of {scenario.name} is not that of {instances.path}: {shown}"
        raise InputError(Finding("other-system", message))


def row_of(answer: Answer) -> Row:
    """Return the row that a table has of an answer."""
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
        versions=versions(),
        plugins=dict(_distributions(assembly, scenario.dispatcher, scenario.objective)),
        platform=platform.platform(),
    )


def _distributions(assembly: Assembly, *choices: Choice) -> Iterator[tuple[str, str]]:
    """Yield the distributions that the dispatcher and the objective come from, with versions."""
    for choice in choices:
        installed = assembly.registry.get(choice.plugin_kind, choice.plugin_name)
        yield installed.distribution, installed.version
