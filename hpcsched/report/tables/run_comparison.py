"""Metrics of runs beside those of a baseline, and their tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import MISSING, Table, parameters_text
from hpcsched.report.tables.run_account import recorded_starts_text
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.solver_rounds import MARK, SolverRounds, in_words, solver_rounds, what_to_do

_FAR, _FAR_SECONDS = 2, 60
"""Ratio and difference of mean waits, in seconds, from which on replay and log are far apart."""
_LONG = 100_000
"""Least value of a row that is shown in hours or days, in seconds."""
BEST = "*"
"""Mark of the best run."""

Values = tuple[float | None, ...]
"""A value for each column, None where it has none."""


Figures = Mapping[str | None, float | None]
"""Metrics over some jobs by name, and the objective as None; None where there is no value."""


class LogColumn(NamedTuple):
    """The log's own schedule; `same_jobs` has figures of runs that ran other jobs as well."""

    name: str
    source: Path
    figures: Figures
    same_jobs: Mapping[str, Figures]
    ran: int
    without_start: int

    def in_words(self) -> str:
        """Return the origin of the column, and its jobs."""
        missing = (
            f"; {self.without_start} of the {self.ran} jobs that ran have no recorded start, and"
            " are left out of all columns"
            if self.without_start
            else f", for all {self.ran} jobs that ran"
        )
        return (
            "the log's own schedule, not a replay: each job starts when the log says that it did"
            f"{missing}"
        )


class Column(NamedTuple):
    """A run, or the log's own schedule, in a comparison, with a note on recorded starts."""

    name: str
    label: str
    source: Path
    solver: SolverRounds
    note: str | None

    @property
    def marked(self) -> str:
        """The label, marked where too many rounds with a solver had no plan."""
        return f"{self.label} {MARK}" if self.solver.too_many else self.label


class Row(NamedTuple):
    """A metric over all columns, with percentages of the baseline's; None where undefined."""

    metric: str
    unit: str
    parameters: str
    population: str
    values: Values
    percent_of_baseline: Values

    @property
    def title(self) -> str:
        """The metric with its parameters."""
        return f"{self.metric} ({self.parameters})" if self.parameters else self.metric


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metrics of runs beside those of a baseline.

    Columns are by ascending objective if that ranks the runs, else in the order given; the log's
    own schedule comes last. `baseline` is the index of a column, `objective` that of the row that
    ranks the runs; None if none does: they have different ones, or traces, or are replicas.
    """

    columns: tuple[Column, ...]
    baseline: int
    rows: tuple[Row, ...]
    objective: int | None
    warnings: tuple[str, ...]
    log: LogColumn | None = None

    @property
    def runs(self) -> tuple[Column, ...]:
        """The columns of runs."""
        return self.columns[: len(self.columns) - (self.log is not None)]

    @property
    def best(self) -> frozenset[int]:
        """Indices of the runs with the least objective; the log's own schedule is no run."""
        if self.objective is None:
            return frozenset()
        values = self.rows[self.objective].values[: len(self.runs)]
        given = [value for value in values if value is not None]
        return frozenset(
            k for k, value in enumerate(values) if value is not None and no_less(min(given), value)
        )


def compare_runs(
    compared: ComparedStudy, log: LogColumn | None = None, *, log_is_baseline: bool = False
) -> Comparison:
    """Compare the metrics of runs with those of the baseline; the log's schedule comes last.

    With a log, all figures are over the jobs whose start it records.
    """
    studied = _ranked(compared.study.runs)
    runs, names = [one.run for one in studied], [one.name for one in studied]
    labels = compared.study.run_labels
    columns = []
    for one in studied:
        starts = one.run.summary.get("recorded_starts")
        note = None if starts is None else recorded_starts_text(starts)
        columns.append(
            Column(one.name, labels[one.name], one.run.path, one.run.solver_rounds, note)
        )
    run_base = names.index(compared.baseline_run.name)
    base = len(names) if log_is_baseline else run_base
    warnings = [*_warnings(runs, names, run_base)]

    def row(metric: str, about: Mapping[str, Any], key: str | None) -> Row:
        found: list[float | None] = []
        for run, name in zip(runs, names, strict=True):
            if log is not None and name in log.same_jobs:
                found.append(log.same_jobs[name].get(key))
            elif key is None:
                found.append(run.summary["objective"].get("value"))
            else:
                found.append(run.summary["metrics"].get(key))
        if log is not None:
            found.append(log.figures.get(key))
        values = tuple(found)
        percent = tuple(percent_of(value, values[base]) for value in values)
        unit, population = about.get("unit", ""), about.get("population", "")
        return Row(metric, unit, parameters_text(about), population, values, percent)

    rows = []
    # In the order of first appearance: runs may have different metrics.
    for metric in dict.fromkeys(name for run in runs for name in run.summary["metrics"]):
        definitions = [run.summary.get("definitions", {}).get(metric) for run in runs]
        given = [definition for definition in definitions if definition is not None]
        # The same name with other parameters, as another tau, is another metric.
        if any(definition != given[0] for definition in given):
            warnings.append(f"{metric} is not defined alike ({_alike(names, definitions)})")
        rows.append(row(metric, given[0] if given else {}, metric))
    ranking, place = _ranking_objective(studied), None
    if ranking is not None:
        stated = ranking["name"], parameters_text(ranking)
        alike_rows = (k for k, own in enumerate(rows) if (own.metric, own.parameters) == stated)
        place = next(alike_rows, None)
        if place is None:
            about = {**ranking, "unit": "", "population": "all jobs that ran"}
            rows.insert(0, row(ranking["name"], about, None))
            place = 0
    if log is not None:
        waits = next((own.values for own in rows if own.metric == "mean_wait_time"), (None,))
        warnings += far_apart(log.name, waits[-1], waits[:-1])
        columns.append(Column(log.name, log.name, log.source, solver_rounds({}), log.in_words()))
    return Comparison(tuple(columns), base, tuple(rows), place, tuple(warnings), log)


def are_apart(one: float, other: float) -> bool:
    """Return whether mean waits, in seconds, differ by more than a factor of 2 and a minute."""
    short, long = sorted((one, other))
    return long > _FAR * short and long - short > _FAR_SECONDS


def far_apart(name: str, there: float | None, runs: Sequence[float | None]) -> Iterator[str]:
    """Yield a warning if mean waits, in seconds, are far longer or less in the log."""
    waits = [wait for wait in runs if wait is not None]
    if there is None or not waits:
        return
    nearest = min(waits, key=lambda wait: abs(wait - there))
    # Runs on both sides of the log are not far from it.
    beside = min(waits) <= there <= max(waits)
    if not beside and are_apart(nearest, there):
        why = (
            "the site may have had fewer nodes, outages, limits, partitions or priorities that"
            " the scenario does not declare, or the log lacks jobs"
            if there > nearest
            else "the site may have had more nodes, or the scenario has outages, limits or jobs"
            " that the site had not"
        )
        yield (
            f"replay and log are far apart: the mean wait is {there:,.0f} s in {name} and"
            f" {nearest:,.0f} s in the nearest run; {why}"
        )


def shared_objective(runs: Sequence[RunDirectory]) -> Mapping[str, Any] | None:
    """Return the objective that all runs have, or None."""
    objectives = [run.summary.get("objective", {}) for run in runs]
    stated = [(one.get("name"), one.get("parameters")) for one in objectives]
    return objectives[0] if stated[0][0] and all(one == stated[0] for one in stated) else None


def _ranking_objective(studied: Sequence[StudiedRun]) -> Mapping[str, Any] | None:
    """Return the objective that ranks runs: one run for each configuration, of one trace."""
    one_trace = len({one.group for one in studied}) == 1
    once = len({one.configuration for one in studied}) == len(studied)
    return shared_objective([one.run for one in studied]) if one_trace and once else None


def _ranked(studied: Sequence[StudiedRun]) -> Sequence[StudiedRun]:
    """Return runs by ascending objective, those without a value last, if it ranks them."""
    if _ranking_objective(studied) is None:
        return studied

    def rank(one: StudiedRun) -> tuple[bool, float]:
        value = one.run.summary["objective"].get("value")
        return value is None, value or 0.0

    return sorted(studied, key=rank)


def _warnings(runs: Sequence[RunDirectory], names: Sequence[str], base: int) -> Iterator[str]:
    """Yield one warning for each reason for which runs may not be comparable."""
    named = list(zip(runs, names, strict=True))
    trace, submitted = _trace(runs[base]), runs[base].summary["jobs"].get("submitted")
    # By content: the same log may be at another path on another machine.
    elsewhere = [name for run, name in named if _trace(run) != trace]
    if elsewhere:
        yield (
            f"{_listed(elsewhere)} ran another trace than {names[base]}: compare figures only"
            " within a trace"
        )
    for run, name in named:
        for path in (file.path for file in run.manifest.trace_files if file.changed):
            yield f"{path} changed while {name} read it: its figures are of no trace that is known"
    counts = [(name, run.summary["jobs"].get("submitted")) for run, name in named]
    others = [
        f"{name}: {count}" for name, count in counts if count != submitted and name not in elsewhere
    ]
    if others:
        # Names of several labels have commas.
        listed = _listed([f"{names[base]}: {submitted}", *others], "; ")
        yield f"the runs have different numbers of submitted jobs: {listed}"
    partial = [f"{name} ({run.manifest.status})" for run, name in named if run.partial]
    if partial:
        yield f"not all of a run is there: {_listed(partial)}"
    unsolved = [(run.solver_rounds, name) for run, name in named if run.solver_rounds.too_many]
    if unsolved:
        listed = _listed([f"{name}: {in_words(rounds)}" for rounds, name in unsolved], "; ")
        yield f"{listed}; {what_to_do(rounds for rounds, _ in unsolved)}"


def _alike(names: Sequence[str], definitions: Sequence[Mapping[str, Any] | None]) -> str:
    """Return the names of runs by the parameters of a metric."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name, stated in zip(names, definitions, strict=True):
        if stated is not None:
            alike[parameters_text(stated) or "other"].append(name)
    return "; ".join(f"{_listed(who)}: {what}" for what, who in alike.items())


def _listed(names: Sequence[str], between: str = ", ") -> str:
    """Return up to three names in full; of more, two names and the number of the others."""
    if len(names) <= 3:
        return between.join(names)
    return f"{between.join(names[:2])} and {len(names) - 2} others"


def _trace(run: RunDirectory) -> list[str]:
    return [file.sha256 for file in run.manifest.trace_files]


def percent_of(value: float | None, baseline: float | None) -> float | None:
    """Return a value in percent of the baseline's; None where that is undefined."""
    return 100 * value / baseline if value is not None and baseline else None


def comparison_table(comparison: Comparison) -> Table:
    """Return a table of formatted metrics with a column for each run.

    Values of other runs than the baseline have their percentage of the baseline's in brackets.
    """
    base = comparison.baseline
    rows = []
    for number, row in enumerate(map(_readable, comparison.rows)):
        best = comparison.best if number == comparison.objective else ()
        cells = (
            value_text(value, None if k == base else percent) + f" {BEST}" * (k in best)
            for k, (value, percent) in enumerate(zip(*row[4:], strict=True))
        )
        rows.append((row.title, row.unit or "1", *cells))
    header = ["metric", "unit", *baseline_marked([c.marked for c in comparison.columns], base)]
    notes = tuple(_notes(comparison))
    return Table(header, rows, "metrics", "Metrics", notes, words=2, heading=False)


def baseline_marked(labels: Sequence[str], baseline: int) -> list[str]:
    """Return labels of columns, with a mark on the baseline."""
    return [f"{label} (baseline)" if k == baseline else label for k, label in enumerate(labels)]


def values_table(comparison: Comparison) -> Table:
    """Return a table of exact values with a row for each metric and run, for CSV."""
    about = ("metric", "unit", "parameters", "population")
    rows = [
        (*row[:4], column.name, str(column.source), value, percent)
        for row in comparison.rows
        for column, value, percent in zip(comparison.columns, *row[4:], strict=True)
    ]
    columns = (*about, "run", "directory", "value", "percent_of_baseline")
    return Table(columns, rows, "metrics", "Metrics")


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Return the content of a comparison for JSON."""
    objective, log = comparison.objective, comparison.log
    content: dict[str, Any] = {
        "baseline": comparison.columns[comparison.baseline].name,
        "objective": None if objective is None else comparison.rows[objective].metric,
        "runs": [
            {
                "name": one.name,
                "label": one.label,
                "directory": str(one.source),
                "solver": asdict(one.solver),
            }
            for one in comparison.columns
        ],
        "metrics": [row._asdict() for row in comparison.rows],
        "warnings": list(comparison.warnings),
    }
    if log is not None:
        content["recorded"] = {
            "name": log.name,
            "log": str(log.source),
            "jobs": log.ran - log.without_start,
            "without_recorded_start": log.without_start,
        }
    return content


def _readable(row: Row) -> Row:
    """Return a row with long times in hours or days, which nobody can read in seconds."""
    most = max((abs(value) for value in row.values if value is not None), default=0)
    if row.unit != "s" or most < _LONG:
        return row
    seconds, unit = (3600, "h") if most < 10 * 86_400 else (86_400, "d")
    values = (None if value is None else value / seconds for value in row.values)
    return row._replace(unit=unit, values=tuple(values))


def value_text(value: float | None, percent: float | None) -> str:
    """Return a value with its percentage of the baseline's in brackets, where there is one."""
    if value is None:
        return MISSING
    number = str(value) if isinstance(value, int) else f"{value:.6g}"
    return number if percent is None else f"{number} ({percent:.1f} %)"


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield a line for each population, and for columns with something to say."""
    if comparison.objective is not None:
        title = comparison.rows[comparison.objective].title
        yield f"By the objective, {title}; {BEST} is the best."
    used = {_readable(row).unit for row in comparison.rows}
    long = "".join(
        f"; {unit}: {name}" for unit, name in (("h", "hours"), ("d", "days")) if unit in used
    )
    baseline = comparison.columns[comparison.baseline].label
    yield f"In brackets: percent of {baseline}. Unit s: seconds{long}; unit 1: a ratio."
    # Metrics of one population share a line, so that the footer stays short.
    over: dict[str, list[str]] = defaultdict(list)
    for row in comparison.rows:
        over[row.population or "population not stated"].append(row.metric)
    yield from (f"Over {population}: {', '.join(metrics)}." for population, metrics in over.items())
    for column in comparison.columns:
        if column.solver.unsolved:
            yield f"{column.marked}: {in_words(column.solver)}."
    for column in comparison.columns:
        if column.note is not None:
            yield f"{column.label}: {column.note}."
