"""Answers of dispatchers to recorded problems, and the tables that keep them."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem, WaitingJob
from hpcsched.errors import DecisionError, Finding, HpcschedError, InputError
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.plugin_faults import named
from hpcsched.plugins import manager
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.manifest import package_versions
from hpcsched.runs.solver_rounds import SolverRounds, in_words, solver_rounds, warning
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.resolved import differences
from hpcsched.simulation.check import BadDecisionError, check_decision, dispatcher_raised
from hpcsched.studies.problems.problem_files import InstancesFile, first_fault
from hpcsched.studies.progress import Bar
from hpcsched.whole_files import check_target, file_error, make_folder, replacing

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
            raise file_error("missing-file", file, "there is no such table")
        try:
            table = pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise file_error("damaged-file", file, f"expected a Parquet table: {reason}") from error
        text = (table.schema.metadata or {}).get(KEY)
        if text is None:
            raise file_error("not-solved", file, "it is no table of solved dispatching problems")
        try:
            about = About.model_validate_json(text)
        except ValidationError as error:
            raise file_error(
                "damaged-file", file, f"it is damaged: {first_fault(error)}"
            ) from error
        # Types are compared too: a column that another program wrote as floats would lose large
        # numbers.
        for field in SCHEMA:
            if field.name not in table.column_names or table.field(field.name).type != field.type:
                message = f"it is damaged: expected a column {field.name!r} of {field.type}"
                raise file_error("damaged-file", file, message)
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


Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int64]

SAME_OBJECTIVE = 1e-6
"""Objective values are the same if they differ by at most this share of the larger one."""
SAME_TIME = 0.1
"""Default relative tolerance below which two times count as equal."""


@dataclass(frozen=True)
class Pairing:
    """Tables A and B over the problems that both have; B is compared with A.

    Objective values are comparable where both solvers gave one for models of equally many jobs: a
    sum over other jobs is another quantity. Nothing is comparable if the objectives differ.
    """

    a: SolvedTable
    b: SolvedTable

    def __post_init__(self) -> None:
        """Check that both tables are about the same problems."""
        a, b = self.a.about.instances, self.b.about.instances
        if a.sha256 != b.sha256:
            files = (f"{one.file} (SHA-256 {one.sha256[:12]}…)" for one in (a, b))
            message = (
                f"{self.a.path} and {self.b.path} are about different dispatching problems:"
                f" {' and '.join(files)}"
            )
            raise InputError(Finding("other-instances", message))
        if not np.array_equal(*self.both("round")):
            message = f"{self.b.path} has other rounds than {self.a.path}"
            raise InputError(Finding("damaged-file", message))

    def __len__(self) -> int:
        return min(len(self.a), len(self.b))

    def warnings(self) -> Iterator[str]:
        """Yield the differences between the tables that limit the comparison."""
        a, b = self.a.about, self.b.about
        # A table made with `--limit` has the first problems of the file, so that the rest can be
        # left out.
        if len(self.a) != len(self.b):
            more, fewer = sorted((self.a, self.b), key=len, reverse=True)
            yield (
                f"{more.about.name} has {len(more)} dispatching problems,"
                f" {fewer.about.name} the first {len(fewer)}: only those are compared"
            )
        if a.objective != b.objective:
            yield f"{a.name} and {b.name} have different objectives: their values are not compared"
        if a.platform != b.platform:
            yield "the tables were made on different machines: their times are not comparable"
        for about, rounds in zip((a, b), self.solver, strict=True):
            warned = warning(rounds, "problems")
            if warned is not None:
                yield f"{about.name}: {warned}"

    def columns(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return a column of A and of B."""
        return self.a.columns[name][: len(self)], self.b.columns[name][: len(self)]

    def both(self, column: str) -> tuple[Floats, Floats]:
        """Return a column of numbers of A and B; nan where there is none."""
        a, b = self.columns(column)
        return a.astype(np.float64), b.astype(np.float64)

    @cached_property
    def asked(self) -> tuple[Mask, Mask]:
        """Masks of the problems for which A and B asked a solver."""
        a, b = (
            np.array([status is not None for status in column], np.bool_)
            for column in self.columns("solver_status")
        )
        return a, b

    @cached_property
    def solver(self) -> tuple[SolverRounds, SolverRounds]:
        """Counts of the problems for which A and B asked a solver, with those without a plan."""
        columns = zip(self.columns("solver_status"), self.asked, strict=True)
        a, b = (solver_rounds(Counter(statuses[asked])) for statuses, asked in columns)
        return a, b

    @cached_property
    def solved(self) -> tuple[Mask, Mask]:
        """Masks of the problems with an objective value by A's and by B's solver."""
        (asked_a, asked_b), (a, b) = self.asked, self.both("objective")
        return asked_a & np.isfinite(a), asked_b & np.isfinite(b)

    @cached_property
    def comparable(self) -> Mask:
        """Mask of the problems with comparable objective values."""
        jobs_a, jobs_b = self.both("modelled_jobs")
        alike = (jobs_a == jobs_b) & (self.a.about.objective == self.b.about.objective)
        return np.asarray(self.solved[0] & self.solved[1] & alike)

    @cached_property
    def objective_order(self) -> Signs:
        """-1 for a better value of B, 0 for an equal one, 1 for a worse one; if comparable."""
        return _order(*self.both("objective"))

    def time_order(self, tolerance: float) -> Signs:
        """Return -1 for a shorter time of B, 0 for an equal one, 1 for a longer one.

        Parameters
        ----------
        tolerance
            Relative tolerance, as a share of the shorter time, up to which times are equal.
        """
        a, b = self.both("decision_time")
        return order(a, b, tolerance * np.minimum(a, b))

    def ratios(self, column: str) -> Floats:
        """Return B / A of a column, ascending, where both are above 0.

        Objectives are taken where comparable. B may have no fails.
        """
        a, b = self.both(column)
        with np.errstate(invalid="ignore"):
            # A comparison with nan is False: a problem without a value has no ratio.
            known = (a > 0) & ((b > 0) | ((b == 0) & (column == "fails")))
        if column == "objective":
            known &= self.comparable
        return np.sort(b[known] / a[known])


def order(a: Floats, b: Floats, tolerance: Floats) -> Signs:
    """Return the sign of b - a; 0 within the tolerance or for nan."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(b - a) > tolerance, np.sign(b - a), 0).astype(np.int64)


def _order(a: Floats, b: Floats) -> Signs:
    # A sum in another order of jobs differs in its last bits, which is no better plan.
    return order(a, b, SAME_OBJECTIVE * np.maximum(np.abs(a), np.abs(b)))


def _counts(signs: Signs) -> tuple[int, int, int]:
    """Return the numbers of negative, zero and positive signs."""
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())


PERCENTS = {"min": 0, "p1": 1, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p99": 99,
            "max": 100}  # fmt: skip
"""Percentiles at which a ratio is given."""

RATIOS = {
    "variables": "decision variables",
    "decision_time": "decision time",
    "fails": "fails",
    "objective": "objective",
}
"""Columns with ratios, and their labels."""


class Objectives(NamedTuple):
    """Table 6.2: problems by B's value of the objective.

    Attributes
    ----------
    compared
        Number of problems where both values are comparable.
    better, same, worse
        Number of them by B's value.
    not_solved, not_asked
        Problems for which the solver of A and of B gave no value, and was not asked.
    unlike
        Problems where both solved models of different numbers of jobs, or of different objectives.
    """

    compared: int
    better: int
    same: int
    worse: int
    not_solved: tuple[int, int]
    not_asked: tuple[int, int]
    unlike: int


def objectives_of(pairing: Pairing) -> Objectives:
    """Return the numbers of problems by B's value of the objective."""
    comparable, (a, b), (solved_a, solved_b) = pairing.comparable, pairing.asked, pairing.solved
    return Objectives(
        int(comparable.sum()),
        *_counts(pairing.objective_order[comparable]),
        (int((a & ~solved_a).sum()), int((b & ~solved_b).sum())),
        (int((~a).sum()), int((~b).sum())),
        int((solved_a & solved_b & ~comparable).sum()),
    )


class Groups(NamedTuple):
    """Table 6.3: the compared problems by B's objective and time.

    Attributes
    ----------
    counts
        Rows for a better, the same and a worse objective; in each a count for a better, the same
        and a worse time.
    groups
        Number of problems in group 1: B is the better choice, or as good; 2: one is given up for
        the other; 3: A is better.
    """

    counts: tuple[tuple[int, int, int], ...]
    groups: tuple[int, int, int]


def groups_of(pairing: Pairing, same_time: float = SAME_TIME) -> Groups:
    """Return the numbers of compared problems by objective and time."""
    # Only problems where the objectives can be compared: a shorter time for another model is no
    # gain.
    objective = pairing.objective_order[pairing.comparable]
    time = pairing.time_order(same_time)[pairing.comparable]
    better, same, worse = (_counts(time[objective == sign]) for sign in (-1, 0, 1))
    groups = (sum(better[:2]) + sum(same[:2]), better[2] + worse[0], same[2] + sum(worse[1:]))
    return Groups((better, same, worse), groups)


def head(pairing: Pairing) -> str:
    """Return the lines above the tables: the problems and the two dispatchers."""
    instances = pairing.a.about.instances
    sides = (
        f"{letter}: {one.about.name}, dispatcher {one.about.dispatcher['name']} ({one.path})"
        for letter, one in (("A", pairing.a), ("B", pairing.b))
    )
    problems = f"{len(pairing):,} dispatching problems of {instances.scenario}"
    return "\n".join([f"{problems} (SHA-256 {instances.sha256[:12]}…)", *sides])


def comparison_tables(pairing: Pairing, same_time: float = SAME_TIME) -> list[Table]:
    """Return the tables of a comparison: ratios, objectives, objectives by time, and totals."""
    return [
        _ratios(pairing),
        _objectives(objectives_of(pairing)),
        _groups(groups_of(pairing, same_time), int(pairing.comparable.sum())),
        _totals(pairing, same_time),
    ]


def _ratios(pairing: Pairing) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, label in RATIOS.items():
        ratios = pairing.ratios(name)
        count = len(ratios)
        signs = _counts(np.sign(ratios - 1).astype(np.int64))
        ranks = (nearest_rank(percent, count) for percent in PERCENTS.values())
        quantiles = (float(ratios[rank]) for rank in ranks) if count else (None,) * len(PERCENTS)
        rows.append((label, count, *(_percent(part, count) for part in signs), *quantiles))
    shares = ("below 1 [%]", "at 1 [%]", "above 1 [%]")
    return Table(("B / A", "problems", *shares, *PERCENTS), rows, "ratios", "Ratios")


_SIGNS = ("better", "same", "worse")


def _objectives(found: Objectives) -> Table:
    counts = zip(_SIGNS, (found.better, found.same, found.worse), strict=True)
    rows = (
        *((name, count, _percent(count, found.compared)) for name, count in counts),
        ("not solved by A", found.not_solved[0], None),
        ("not solved by B", found.not_solved[1], None),
        ("A asked no solver", found.not_asked[0], None),
        ("B asked no solver", found.not_asked[1], None),
        ("unlike models", found.unlike, None),
    )
    columns = ("objective of B", "problems", f"of {found.compared} compared [%]")
    return Table(columns, rows, "objectives", "Objective")


def _groups(found: Groups, compared: int) -> Table:
    rows = tuple(
        (name, *(_percent(count, compared) for count in counts))
        for name, counts in zip(
            (*_SIGNS, "groups 1, 2, 3"), (*found.counts, found.groups), strict=True
        )
    )
    columns = ("objective of B", *(f"{sign} time [%]" for sign in _SIGNS))
    return Table(columns, rows, "groups", "Objective and time")


def _totals(pairing: Pairing, same_time: float) -> Table:
    columns = {
        "decision time [s]": "decision_time",
        "fallbacks": "fallback",
        "jobs started": "started",
        "slowdown of these": "started_slowdown",
    }
    rows = [
        (label, *(column.sum().item() for column in pairing.columns(name)))
        for label, name in columns.items()
    ]
    less, _, more = _counts(_order(*pairing.both("started_slowdown")))
    shares = (_percent(count, len(pairing)) for count in (less, more))
    rows.append(("starts more slowdown [%]", *shares))
    notes = tuple(_legend(pairing, same_time))
    return Table(("", "A", "B"), rows, "totals", "Over all problems", notes)


def _legend(pairing: Pairing, same_time: float) -> Iterator[str]:
    """Yield lines that say how the figures are to be read."""
    for side, rounds in zip("AB", pairing.solver, strict=True):
        if rounds.unsolved:
            yield f"{side}: {in_words(rounds, 'problems')}."
    yield (
        "Ratios: over the problems where both values are above 0; B's fails may be 0. p25: the"
        " ratio that 25 % of them do not exceed (nearest rank). Below 1, B is better."
    )
    yield (
        "Objectives: the solvers' own, where both gave one for models of as many jobs. The"
        f" same: apart by at most {SAME_OBJECTIVE:g} of the larger."
    )
    yield (
        "Times are the same where the longer exceeds the shorter by at most"
        f" {100 * same_time:g} %. Group 1: B is no worse in either; 2: better in one, worse in"
        " the other; 3: the rest."
    )
    yield (
        "Slowdown of what starts now: the sum of (now - submit time + predicted run time) /"
        " predicted run time. Starting more of it now may still be the worse plan."
    )


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
