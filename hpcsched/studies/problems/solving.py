"""Answers of dispatchers to recorded problems, and the tables that keep them."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple, get_args

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, Finding, HpcschedError, InputError
from hpcsched.plugin_faults import named
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.manifest import package_versions
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.resolved import differences
from hpcsched.simulation.check import BadDecisionError, check_decision, dispatcher_raised
from hpcsched.studies.problems.problem_files import InstancesFile
from hpcsched.studies.problems.problem_lines import in_words
from hpcsched.studies.progress import Bar
from hpcsched.whole_files import check_target, make_folder, replacing
from hpcsched.whole_files import problem as fault

KEY = b"hpcsched-instances"
"""Under which key the Parquet file's metadata has what a table is about, as JSON."""
PACKAGES = ("numpy", "pyarrow", "cpmpy", "ortools")
"""Packages that solve dispatching problems."""
_BATCH = 4096


class Row(NamedTuple):
    """Answer to one dispatching problem.

    Attributes
    ----------
    started_slowdown
        Sum of the slowdowns of the started jobs, by predicted run times.
    decision_time
        Real seconds.
    solver_status
        This and the following fields are those of `SolverCall`; None where no solver was asked.
    """

    round: int
    now: int
    queued: int
    running: int
    started: int
    rejected: int
    started_slowdown: float
    decision_time: float
    fallback: bool
    solver_status: str | None
    modelled_jobs: int | None
    variables: int | None
    objective: float | None
    bound: float | None
    build_time: float | None
    transform_time: float | None
    solve_time: float | None
    branches: int | None = None
    fails: int | None = None


_TYPES = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
SCHEMA = pa.schema(
    [
        pa.field(name, _TYPES[(get_args(hint) or (hint,))[0]], nullable=bool(get_args(hint)))
        for name, hint in Row.__annotations__.items()
    ]
)
"""Columns: the fields of `Row`."""


class Instances(BaseModel):
    """File of the solved dispatching problems."""

    model_config = ConfigDict(frozen=True)

    file: str
    sha256: str
    scenario: str


class About(BaseModel):
    """Description of a table: scenario, dispatcher, problems and versions."""

    model_config = ConfigDict(frozen=True)

    format: Literal[2]
    name: str
    dispatcher: dict[str, Any]
    objective: dict[str, Any]
    seed: int
    scenario: str
    instances: Instances
    versions: dict[str, str]
    plugins: dict[str, str]
    platform: str


def write_table(path: Path, about: About, rows: Iterable[Row], *, force: bool) -> int:
    """Write a table, which appears under its name when all rows are written; return their number.

    Rows are written in groups: row by row each would be a row group, and all at once they would be
    in memory together.
    """
    schema = SCHEMA.with_metadata({KEY: about.model_dump_json()})
    written, left = 0, iter(rows)
    with (
        replacing(path, force=force) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as parquet,
    ):
        while group := [row._asdict() for row in islice(left, _BATCH)]:
            parquet.write_table(pa.Table.from_pylist(group, schema=schema))
            written += len(group)
    return written


@dataclass(frozen=True, slots=True, eq=False)
class SolvedTable:
    """A table that was read.

    Attributes
    ----------
    columns
        Its columns; nan and None for missing values.
    """

    path: Path
    about: About
    columns: Mapping[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        return len(self.columns["round"])

    @classmethod
    def open(cls, file: Path) -> "SolvedTable":
        """Read a table."""
        if not file.is_file():
            raise fault("missing-file", file, "there is no such table")
        try:
            table = pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise fault("damaged-file", file, f"expected a Parquet table: {reason}") from error
        text = (table.schema.metadata or {}).get(KEY)
        if text is None:
            raise fault("not-solved", file, "it is no table of solved dispatching problems")
        try:
            about = About.model_validate_json(text)
        except ValidationError as error:
            raise fault("damaged-file", file, f"it is damaged: {in_words(error)}") from error
        # Types are compared too: a column that another program wrote as floats would lose large
        # numbers.
        for field in SCHEMA:
            if field.name not in table.column_names or table.field(field.name).type != field.type:
                message = f"it is damaged: expected a column {field.name!r} of {field.type}"
                raise fault("damaged-file", file, message)
        return cls(file, about, {name: table[name].to_numpy() for name in SCHEMA.names})


def answering_parts(scenario: Scenario) -> Assembly:
    """Return the system, objective and dispatcher of a scenario, seeded as in its run."""
    name = scenario.dispatcher.plugin_name
    # Looked up by name before anything is built, so that the message is about the scenario.
    capabilities = manager.registry().get("dispatcher", name).plugin.capabilities
    if FOLLOWS_RECORD in capabilities:
        message = f"the dispatcher {name} follows a log, which dispatching problems come without"
        raise InputError(Finding("not-recorded", message, key="dispatcher"))
    return assemble(scenario)


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


def answers(
    problems: Iterable[DispatchingProblem], dispatcher: Dispatcher, name: str
) -> Iterator[Answer]:
    """Ask a dispatcher one problem after another, and yield its answers."""
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
) -> Iterator[Solved]:
    """Write a table for each scenario's dispatcher, and yield it when it is complete.

    Dispatcher, objective and seed of a scenario count; its system must be the file's. One
    dispatcher answers all problems in the order of the file.

    Parameters
    ----------
    limit
        Largest number of problems; None for all.
    """
    check_names(scenarios)
    for scenario in scenarios:
        check_system(instances, scenario)
    paths = [folder / f"{scenario.name}.parquet" for scenario in scenarios]
    make_folder(folder)
    # All targets are checked before the first dispatcher is called, which may take hours.
    for path in paths:
        check_target(path, force=force)
    assemblies = [answering_parts(scenario) for scenario in scenarios]
    for assembly, path in zip(assemblies, paths, strict=True):
        statuses: Counter[str] = Counter()
        rows = _rows(instances, assembly, limit, statuses)
        written = write_table(path, _about(assembly, instances), rows, force=force)
        yield Solved(assembly.scenario.name, path, written, solver_rounds(statuses))


def _rows(
    instances: InstancesFile, assembly: Assembly, limit: int | None, statuses: Counter[str]
) -> Iterator[Row]:
    """Yield the rows of a dispatcher's answers, and count the statuses of its solver."""
    scenario = assembly.scenario
    problems = instances.problems(assembly.objective, limit)
    with Bar(scenario.name) as bar:
        found = answers(problems, assembly.dispatcher, scenario.dispatcher.plugin_name)
        for number, answer in enumerate(found, 1):
            bar.show(instances.fraction_read, f"{number} problems")
            if answer.decision.solver is not None:
                statuses[answer.decision.solver.status] += 1
            yield row_of(answer)


def check_names(scenarios: Sequence[Scenario]) -> None:
    """Check that scenarios, and so their tables, have different names."""
    counts = Counter(scenario.name for scenario in scenarios)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        message = f"two scenarios are called {twice[0]!r}, which would be the name of both tables"
        raise InputError(Finding("duplicate-name", message))


def check_system(instances: InstancesFile, scenario: Scenario) -> None:
    """Check that a scenario and the problems have the same system."""
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
        *(getattr(call, _OF_CALL.get(name, name), None) for name in Row._fields[9:]),
    )


_OF_CALL = {"solver_status": "status", "modelled_jobs": "jobs"}
"""Fields of a row with other names in `SolverCall`."""


def slowdown_now(job: WaitingJob, now: int) -> float:
    """Return the slowdown of a job that starts now and runs as predicted."""
    return (now - job.submit_time + job.predicted_run_time) / job.predicted_run_time


def _about(assembly: Assembly, instances: InstancesFile) -> About:
    scenario = assembly.scenario
    return About(
        format=2,
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
