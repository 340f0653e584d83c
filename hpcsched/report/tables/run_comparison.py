"""Metrics of runs beside those of a baseline, and their tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import MISSING, Table, parameters_text, titled
from hpcsched.report.tables.run_account import recorded_starts_text
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import JOBS
from hpcsched.runs.solver_rounds import MARK, SolverRounds, in_words, solver_rounds, what_to_do

_FAR, _FAR_SECONDS = 2, 60
"""Ratio and difference of mean waits, in seconds, from which on replay and log are far apart."""


class LogFigures(NamedTuple):
    """Metrics by name, and the objective, over some jobs; None where there is no value."""

    metrics: Mapping[str, float | None]
    objective: float | None


class LogColumn(NamedTuple):
    """The column of the log's own schedule in a comparison.

    Attributes
    ----------
    same_jobs
        Figures of runs that ran other jobs as well, over the jobs of the column, by run.
    without_start
        Number of these of which the log records no start; the column is over the others.
    """

    name: str
    source: Path
    figures: LogFigures
    same_jobs: Mapping[str, LogFigures]
    ran: int
    without_start: int

    def in_words(self) -> str:
        """Return the origin of the column, and its jobs."""
        missing = (
            f"; {self.without_start} of the {self.ran} jobs that ran have no recorded start, and"
            " are left out"
            if self.without_start
            else f", for all {self.ran} jobs that ran"
        )
        return (
            "the log's own schedule, not a replay: each job starts when the log says that it did"
            f"{missing}"
        )

    def far_apart(
        self, waits: Sequence[float | None], percent: Sequence[float | None]
    ) -> Iterator[str]:
        """Yield a warning if jobs waited far longer, or far less, in the log than in every run.

        Parameters
        ----------
        percent
            The same in percent of the log's, over the jobs of the log.
        """
        there = waits[-1]
        if there is None:
            return
        runs = [
            wait if share is None else there * share / 100
            for wait, share in zip(waits[:-1], percent[:-1], strict=True)
            if wait is not None
        ]
        nearest = min(runs, key=lambda wait: abs(wait - there), default=there)
        # Runs on both sides of the log are not far from it.
        beside = min(runs, default=there) <= there <= max(runs, default=there)
        short, long = sorted((nearest, there))
        if not beside and long > _FAR * short and long - short > _FAR_SECONDS:
            why = (
                "the site may have had fewer nodes, outages, limits, partitions or priorities that"
                " the scenario does not declare, or the log lacks jobs"
                if there > nearest
                else "the site may have had more nodes, or the scenario has outages, limits or jobs"
                " that the site had not"
            )
            yield (
                f"replay and log are far apart: the mean wait is {there:,.0f} s in {self.name} and"
                f" {nearest:,.0f} s in the nearest run; {why}"
            )


@dataclass(frozen=True, slots=True)
class Row:
    """A metric over all runs.

    Attributes
    ----------
    metric, unit, population
        Name, unit (empty for a ratio), and the jobs or the window it is over.
    parameters
        Parameters in words, as `tau = 10`.
    values
        Value in each run; None where it has none.
    percent
        Value in percent of the baseline's; None where that is undefined.
    percent_of_log
        Value in percent of that of the log's own schedule, over the same jobs; empty without it.
    """

    metric: str
    unit: str
    population: str
    parameters: str
    values: tuple[float | None, ...]
    percent: tuple[float | None, ...]
    percent_of_log: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metrics of runs beside those of a baseline.

    Attributes
    ----------
    names, labels, directories
        Names, labels and directories of the runs: by ascending objective if that ranks
        them, else in the order given.
    baseline
        Index of the baseline.
    objective
        Index of the row with the objective of the runs; None if it does not rank them: they have
        different ones, ran different traces, or are replicas.
    warnings
        Reasons for which runs may not be comparable.
    recorded
        Agreement with the start times of the log, in words; None for a run that did not follow
        them. Of the log's own schedule, its jobs.
    log
        The log's own schedule, which is the last column; None: it is not there.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    directories: tuple[Path, ...]
    baseline: int
    rows: tuple[Row, ...]
    objective: int | None
    warnings: tuple[str, ...]
    solver: tuple[SolverRounds, ...]
    recorded: tuple[str | None, ...]
    log: LogColumn | None = None

    @property
    def best(self) -> frozenset[int]:
        """Indices of the runs with the least objective; the log's own schedule is no run."""
        if self.objective is None:
            return frozenset()
        values = self.rows[self.objective].values[: len(self.names) - (self.log is not None)]
        given = [value for value in values if value is not None]
        return frozenset(
            k for k, value in enumerate(values) if value is not None and no_less(min(given), value)
        )


def compare_runs(
    compared: ComparedStudy, log: LogColumn | None = None, *, log_is_baseline: bool = False
) -> Comparison:
    """Compare the metrics of runs with those of the baseline.

    Parameters
    ----------
    log
        The log's own schedule, which becomes the last column; None: without it.
    """
    comparison = _compare_runs(compared)
    return comparison if log is None else _with_log(comparison, log, log_is_baseline)


def _with_log(comparison: Comparison, log: LogColumn, log_is_baseline: bool) -> Comparison:
    """Return a comparison with the log's own schedule as its last column."""
    names = comparison.names
    base = len(names) if log_is_baseline else comparison.baseline

    def row_with_log(number: int, row: Row) -> Row:
        def of(figures: LogFigures) -> float | None:
            if row.metric in figures.metrics:
                return figures.metrics[row.metric]
            return figures.objective if number == comparison.objective else None

        values = (*row.values, of(log.figures))
        # A percentage is of the same jobs, also where the log records the starts of some only.
        same = [
            *(
                of(log.same_jobs[name]) if name in log.same_jobs else value
                for name, value in zip(names, row.values, strict=True)
            ),
            values[-1],
        ]
        of_log = tuple(percent_of(value, values[-1]) for value in same)
        of_run = (*row.percent, percent_of(values[-1], same[base]))
        percent = of_log if log_is_baseline else of_run
        return replace(row, values=values, percent=percent, percent_of_log=of_log)

    compared = tuple(row_with_log(k, row) for k, row in enumerate(comparison.rows))
    return replace(
        comparison,
        names=(*names, log.name),
        labels=(*comparison.labels, log.name),
        directories=(*comparison.directories, log.source),
        baseline=base,
        rows=compared,
        warnings=(*comparison.warnings, *_far_from_log(compared, log)),
        solver=(*comparison.solver, solver_rounds({})),
        recorded=(
            *comparison.recorded,
            log.in_words() + ("; percentages are over the same jobs" if log.same_jobs else ""),
        ),
        log=log,
    )


def _far_from_log(rows: Sequence[Row], log: LogColumn) -> Iterator[str]:
    for row in rows:
        if row.metric == "mean_wait_time":
            yield from log.far_apart(row.values, row.percent_of_log)


def _compare_runs(compared: ComparedStudy) -> Comparison:
    """Compare the metrics of runs with those of the baseline."""
    studied = _ranked(compared.study.runs)
    runs = [one.run for one in studied]
    names = tuple(one.name for one in studied)
    base = names.index(compared.baseline_run.name)
    # In the order of first appearance: runs may have different metrics.
    metrics = dict.fromkeys(name for run in runs for name in run.summary["metrics"])
    warnings = [*_warnings(runs, names, base), *_equal_replicas(studied)]
    rows = []
    for metric in metrics:
        definitions = [run.summary.get("definitions", {}).get(metric) for run in runs]
        given = [definition for definition in definitions if definition is not None]
        # The same name with other parameters, as another tau, is another metric.
        if any(definition != given[0] for definition in given):
            alike: dict[str, list[str]] = {}
            for name, stated in zip(names, definitions, strict=True):
                if stated is not None:
                    alike.setdefault(parameters_text(stated) or "other", []).append(name)
            kinds = "; ".join(f"{_listed(who)}: {what}" for what, who in alike.items())
            warnings.append(f"{metric} is not defined alike ({kinds})")
        definition = given[0] if given else {}
        values = tuple(run.summary["metrics"].get(metric) for run in runs)
        rows.append(
            Row(
                metric,
                definition.get("unit", ""),
                definition.get("population", ""),
                parameters_text(definition),
                values,
                tuple(percent_of(value, values[base]) for value in values),
            )
        )
    objective = _objective_row(studied, rows, base)
    return Comparison(
        names,
        tuple(compared.study.run_labels[name] for name in names),
        tuple(run.path for run in runs),
        base,
        tuple(rows),
        objective,
        tuple(warnings),
        tuple(run.solver_rounds for run in runs),
        tuple(_recorded(run.summary.get("recorded_starts")) for run in runs),
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


def _objective_row(studied: Sequence[StudiedRun], rows: list[Row], base: int) -> int | None:
    """Return the index of the objective's row, a new first one if no metric is the objective."""
    objective = _ranking_objective(studied)
    if objective is None:
        return None
    name, parameters = objective["name"], parameters_text(objective)
    for k, row in enumerate(rows):
        if (row.metric, row.parameters) == (name, parameters):
            return k
    values = tuple(one.run.summary["objective"].get("value") for one in studied)
    percent = tuple(percent_of(value, values[base]) for value in values)
    rows.insert(0, Row(name, "", "all jobs that ran", parameters, values, percent))
    return 0


def _recorded(figures: Mapping[str, int] | None) -> str | None:
    return None if figures is None else recorded_starts_text(figures)


def _warnings(runs: Sequence[RunDirectory], names: Sequence[str], base: int) -> list[str]:
    """Return one warning for each reason for which runs may not be comparable."""
    warnings = []
    named = list(zip(runs, names, strict=True))
    trace, submitted = _trace(runs[base]), _submitted(runs[base])
    # By content: the same log may be at another path on another machine.
    elsewhere = [name for run, name in named if _trace(run) != trace]
    if elsewhere:
        warnings.append(
            f"{_listed(elsewhere)} ran another trace than {names[base]}: compare figures only"
            " within a trace"
        )
    warnings += _other_data(named)
    parts = [
        f"{name}: {_submitted(run)}"
        for run, name in named
        if _trace(run) == trace and _submitted(run) != submitted
    ]
    if parts:
        warnings.append(
            "the runs have different numbers of submitted jobs: "
            # Names of several labels have commas.
            + _listed([f"{names[base]}: {submitted}", *parts], "; ")
        )
    partial = [f"{name} ({run.manifest.status})" for run, name in named if run.partial]
    if partial:
        warnings.append(f"not all of a run is there: {_listed(partial)}")
    unsolved = [(run.solver_rounds, name) for run, name in named if run.solver_rounds.too_many]
    if unsolved:
        listed = _listed([f"{name}: {in_words(rounds)}" for rounds, name in unsolved], "; ")
        warnings.append(f"{listed}; {what_to_do(rounds for rounds, _ in unsolved)}")
    return warnings


def _equal_replicas(studied: Sequence[StudiedRun]) -> Iterator[str]:
    """Yield a warning for each configuration with equal jobs in runs of several seeds."""
    replicas: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
    for one in studied:
        replicas[one.configuration, one.group].append(one)
    for (configuration, group), same in replicas.items():
        tables = {one.run.manifest.files.get(JOBS) for one in same}
        if len(same) > 1 and len(tables) == 1 and None not in tables:
            yield (
                f"the {len(same)} seeds of {configuration} on {group} make no difference: they are"
                " one run, and intervals over them say nothing"
            )


def _other_data(named: Sequence[tuple[RunDirectory, str]]) -> Iterator[str]:
    """Yield a warning for each path, and each name, under which runs read different data."""
    by_path: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    by_name: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run, name in named:
        changed = [file.path for file in run.manifest.trace_files if file.changed]
        for path in changed:
            yield f"{path} changed while {name} read it: its figures are of no trace that is known"
        for file in run.manifest.trace_files:
            by_path[file.path][file.sha256].append(name)
    for path, readers in by_path.items():
        if len(readers) > 1:
            yield f"{path} changed between the runs, which read different data: {_parted(readers)}"
        for digest, names in readers.items():
            by_name[Path(path).name][digest] += [f"{name} ({path})" for name in names]
    for file_name, readers in by_name.items():
        # Copies of one file under several paths are the same trace.
        alike = [path for path in by_path if Path(path).name == file_name]
        if len(readers) > 1 and len(alike) > 1:
            yield f"files called {file_name} hold different data: {_parted(readers)}"


def _parted(readers: Mapping[str, Sequence[str]]) -> str:
    """Return the readers of each version of a file, by the beginning of its SHA-256."""
    return "; ".join(f"{_listed(names)}: {digest[:8]}" for digest, names in readers.items())


def _listed(names: Sequence[str], between: str = ", ") -> str:
    """Return up to three names in full; of more, two names and the number of the others."""
    if len(names) <= 3:
        return between.join(names)
    return f"{between.join(names[:2])} and {len(names) - 2} others"


def _trace(run: RunDirectory) -> list[str]:
    return [file.sha256 for file in run.manifest.trace_files]


def _submitted(run: RunDirectory) -> Any:
    return run.summary["jobs"].get("submitted")


def percent_of(value: float | None, baseline: float | None) -> float | None:
    """Return a value in percent of the baseline's; None where that is undefined."""
    return 100 * value / baseline if value is not None and baseline else None


_UNITS = {"h": "hours", "d": "days"}
_LONG = 100_000
"""Least value of a row that is shown in hours or days, in seconds."""
BEST = "*"
"""Mark of the best run."""


def comparison_table(comparison: Comparison) -> Table:
    """Return a table of formatted metrics with a column for each run.

    Parameters
    ----------
    comparison
        Metrics of the runs, which are shown by label. Values of other runs than the baseline have
        their percentage of the baseline's value in brackets.
    """
    header, *lines = _cells(comparison)
    return Table(
        "metrics",
        "Metrics",
        tuple((title, "") for title in header),
        tuple(map(tuple, lines)),
        tuple(_notes(comparison)),
        frozenset(range(2, len(header))),
        heading=False,
    )


def values_table(comparison: Comparison) -> Table:
    """Return a table of exact values with a row for each metric and run, for CSV."""
    about = ("metric", "unit", "parameters", "population")
    columns = (*about, "run", "directory", "value", "percent_of_baseline")
    runs = [
        (name, str(path))
        for name, path in zip(comparison.names, comparison.directories, strict=True)
    ]
    rows = (
        (row.metric, row.unit, row.parameters, row.population, *run, value, percent)
        for row in comparison.rows
        for run, value, percent in zip(runs, row.values, row.percent, strict=True)
    )
    return Table("metrics", "Metrics", tuple((name, "") for name in columns), tuple(rows))


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Return the content of a comparison for JSON."""
    names = comparison.names
    log = comparison.log
    recorded = {} if log is None else {"recorded": _about_log(log)}
    return {
        "baseline": names[comparison.baseline],
        "objective": None
        if comparison.objective is None
        else comparison.rows[comparison.objective].metric,
        "runs": [
            {"name": name, "label": label, "directory": str(directory), "solver": asdict(rounds)}
            for name, label, directory, rounds in zip(
                names, comparison.labels, comparison.directories, comparison.solver, strict=True
            )
        ],
        "metrics": [
            {
                "metric": row.metric,
                "unit": row.unit,
                "parameters": row.parameters,
                "population": row.population,
                "values": row.values,
                "percent_of_baseline": row.percent,
            }
            for row in comparison.rows
        ],
        "warnings": list(comparison.warnings),
        **recorded,
    }


def _about_log(log: LogColumn) -> dict[str, Any]:
    """Return the content of the log's own schedule for JSON."""
    return {
        "name": log.name,
        "log": str(log.source),
        "jobs": log.ran - log.without_start,
        "without_recorded_start": log.without_start,
    }


def _cells(comparison: Comparison) -> list[list[str]]:
    """Return the header and a line for each metric."""
    titles = [
        f"{name} (baseline)" if k == comparison.baseline else name
        for k, name in enumerate(_marked(comparison))
    ]
    return [
        ["metric", "unit", *titles],
        *(
            [_title(row), row.unit or "1"]
            + [
                value_text(value, None if k == comparison.baseline else percent)
                + (f" {BEST}" if number == comparison.objective and k in comparison.best else "")
                for k, (value, percent) in enumerate(zip(row.values, row.percent, strict=True))
            ]
            for number, row in enumerate(map(_readable, comparison.rows))
        ),
    ]


def _readable(row: Row) -> Row:
    """Return a row with long times in hours or days, which nobody can read in seconds."""
    most = max((abs(value) for value in row.values if value is not None), default=0)
    if row.unit != "s" or most < _LONG:
        return row
    seconds, unit = (3600, "h") if most < 10 * 86_400 else (86_400, "d")
    values = (None if value is None else value / seconds for value in row.values)
    return replace(row, unit=unit, values=tuple(values))


def _marked(comparison: Comparison) -> Iterator[str]:
    """Yield the labels of the runs, marked where too many rounds with a solver had no plan."""
    for label, rounds in zip(comparison.labels, comparison.solver, strict=True):
        yield f"{label} {MARK}" if rounds.too_many else label


def _title(row: Row) -> str:
    return titled(row.metric, row.parameters)


def value_text(value: float | None, percent: float | None) -> str:
    """Return a value with its percentage of the baseline's in brackets, where there is one.

    Examples
    --------
    >>> value_text(1 / 3, None), value_text(12, 50.0), value_text(None, None)
    ('0.333333', '12 (50.0 %)', '–')
    """
    if value is None:
        return MISSING
    number = str(value) if isinstance(value, int) else f"{value:.6g}"
    return number if percent is None else f"{number} ({percent:.1f} %)"


def _notes(comparison: Comparison) -> list[str]:
    """Return a line for each population, and for runs with unsolved rounds or recorded starts."""
    # Metrics of one population share a line, so that the footer stays short.
    over: dict[str, list[str]] = {}
    for row in comparison.rows:
        over.setdefault(row.population or "population not stated", []).append(row.metric)
    baseline = comparison.labels[comparison.baseline]
    used = {_readable(row).unit for row in comparison.rows}
    long = "".join(f"; {unit}: {name}" for unit, name in _UNITS.items() if unit in used)
    by_objective = []
    if comparison.objective is not None:
        objective = comparison.rows[comparison.objective]
        by_objective = [f"By the objective, {_title(objective)}; {BEST} is the best."]
    return [
        *by_objective,
        f"In brackets: percent of {baseline}. Unit s: seconds{long}; unit 1: a ratio.",
        *(f"Over {population}: {', '.join(metrics)}." for population, metrics in over.items()),
        *(
            f"{name}: {in_words(rounds)}."
            for name, rounds in zip(_marked(comparison), comparison.solver, strict=True)
            if rounds.unsolved
        ),
        *(
            f"{label}: {followed}."
            for label, followed in zip(comparison.labels, comparison.recorded, strict=True)
            if followed is not None
        ),
    ]
