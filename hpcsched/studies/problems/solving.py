"""Answers of dispatchers to recorded problems, and the tables that keep them."""

import json
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, Finding, HpcschedError, InputError
from hpcsched.plugin_faults import named
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.manifest import package_versions
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds
from hpcsched.runs.terminal_views import TerminalConsole
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.resolved import differences
from hpcsched.simulation.check import BadDecisionError, check_decision, dispatcher_raised
from hpcsched.studies.problems.problem_files import InstancesFile
from hpcsched.studies.problems.problem_lines import in_words
from hpcsched.terminal import can_draw
from hpcsched.whole_files import cannot_write, check_target, make_folder, replacing
from hpcsched.whole_files import problem as fault

FORMAT = 2
"""Version of the tables; readers refuse any other."""
KEY = b"hpcsched-instances"
"""Under which key the Parquet file's metadata has what a table is about, as JSON."""
SUFFIX = ".parquet"
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


_COUNTS = ("round", "now", "queued", "running", "started", "rejected")
_SECONDS = ("build_time", "transform_time", "solve_time")
SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int64(), nullable=False) for name in _COUNTS),
        pa.field("started_slowdown", pa.float64(), nullable=False),
        pa.field("decision_time", pa.float64(), nullable=False),
        pa.field("fallback", pa.bool_(), nullable=False),
        ("solver_status", pa.string()),
        ("modelled_jobs", pa.int64()),
        ("variables", pa.int64()),
        ("objective", pa.float64()),
        ("bound", pa.float64()),
        *((name, pa.float64()) for name in _SECONDS),
        ("branches", pa.int64()),
        ("fails", pa.int64()),
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

    format: int
    name: str
    dispatcher: dict[str, Any]
    objective: dict[str, Any]
    seed: int
    scenario: str
    instances: Instances
    versions: dict[str, str]
    plugins: dict[str, str]
    platform: str


class TableWriter:
    """Appends rows to a table, a row group at a time; see `write_table`."""

    def __init__(self, path: Path, writer: pq.ParquetWriter) -> None:
        self._path, self._writer = path, writer
        self._rows: list[Row] = []
        self.written = 0

    def add(self, row: Row) -> None:
        """Append a row."""
        self._rows.append(row)
        self.written += 1
        # Row by row each would be a row group; all at once they would be in memory together.
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(c, field.type) for c, field in zip(columns, SCHEMA, strict=True)]
        self._rows = []
        try:
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA))
        except OSError as error:
            raise cannot_write(self._path, error) from error


@contextmanager
def write_table(path: Path, about: About, *, force: bool) -> Iterator[TableWriter]:
    """Open a table for writing; it appears under its name when all rows are written."""
    schema = SCHEMA.with_metadata({KEY: about.model_dump_json()})
    with (
        replacing(path, force=force) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as parquet,
    ):
        writer = TableWriter(path, parquet)
        yield writer
        writer.flush()


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
    def open(cls, path: Path) -> "SolvedTable":
        """Read a table: a file, or a folder with one table."""
        file = _table_in(path) if path.is_dir() else path
        if not file.is_file():
            raise fault("missing-file", file, "there is no such table")
        try:
            table = pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise fault("damaged-file", file, f"expected a Parquet table: {reason}") from error
        about = _read_about(file, table.schema.metadata)
        # Types are compared too: a column that another program wrote as floats would lose large
        # numbers.
        for field in SCHEMA:
            if field.name not in table.column_names or table.field(field.name).type != field.type:
                message = f"it is damaged: expected a column {field.name!r} of {field.type}"
                raise fault("damaged-file", file, message)
        columns = {name: table[name].to_numpy() for name in SCHEMA.names}
        return cls(file, about, columns)


def _read_about(file: Path, metadata: Mapping[bytes, bytes] | None) -> About:
    text = (metadata or {}).get(KEY)
    if text is None:
        raise fault("not-solved", file, "it is no table of solved dispatching problems")
    try:
        content = json.loads(text)
        found = content.get("format")
        if found != FORMAT:
            message = f"it has format {found!r}; this version of hpcsched reads format {FORMAT}"
            raise fault("unknown-format", file, message)
        return About.model_validate(content)
    except ValidationError as error:
        raise fault("damaged-file", file, f"it is damaged: {in_words(error)}") from error
    except (ValueError, AttributeError) as error:
        raise fault("damaged-file", file, f"it is damaged: {error}") from error


def _table_in(folder: Path) -> Path:
    tables = sorted(folder.glob(f"*{SUFFIX}"))
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise fault("missing-file", folder, f"expected a table *{SUFFIX} in it, found none")
    names = ", ".join(path.name for path in tables)
    raise fault("several-tables", folder, f"expected one table in it; name one of: {names}")


def answering_parts(scenario: Scenario) -> Assembly:
    """Return the system, objective and dispatcher of a scenario, seeded as in its run."""
    name = scenario.dispatcher.plugin_name
    # Looked up by name before anything is built, so that the message is about the scenario.
    capabilities = manager.registry().get("dispatcher", name).plugin.capabilities
    if FOLLOWS_RECORD in capabilities:
        message = f"the dispatcher {name} follows a log, which dispatching problems come without"
        raise InputError(Finding("not-recorded", message, key="dispatcher"))
    return assemble(scenario)


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
    follow: Follow = lambda _, problems: problems,
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


class SolvingProgress:
    """Progress of a scenario's dispatcher through a file.

    Shown only if standard error is a terminal.
    """

    def __init__(self, instances: InstancesFile) -> None:
        self._instances = instances

    def __call__(self, name: str, problems: Problems) -> Iterator[DispatchingProblem]:
        """Yield the problems, and show the progress as they are asked for."""
        console = TerminalConsole(sys.stderr)
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[problems]} problems"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not can_draw(sys.stderr),
        ) as progress:
            task = progress.add_task(name, total=1, problems=0)
            for number, problem in enumerate(problems):
                read = self._instances.fraction_read
                progress.update(task, completed=read, problems=number)
                yield problem
