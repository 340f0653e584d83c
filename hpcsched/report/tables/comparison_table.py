"""The table of metrics of a comparison of runs, and its content for CSV and JSON."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from hpcsched.report.tables.log_column import LogColumn
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.report.tables.run_comparison import Comparison, Row
from hpcsched.runs.solver_rounds import MARK, in_words

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
    """Return a table of exact values with a row for each metric and run, for CSV.

    Returns
    -------
    Table
        Columns: metric, unit, parameters, population, run, directory, value, percent of baseline.
    """
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
    """Return the content of a comparison for JSON.

    Returns
    -------
    dict
        `baseline` (a name), `objective` (the metric that ranks the runs, or null), `runs` (name,
        label, directory, solver rounds), `metrics` (exact `values` and `percent_of_baseline` in the
        order of the runs) and `warnings`; and where the log's own schedule is the last of the runs,
        `recorded` (its name, the log, and its numbers of jobs).
    """
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
    return f"{row.metric} ({row.parameters})" if row.parameters else row.metric


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
