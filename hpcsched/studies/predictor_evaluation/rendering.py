"""Tables of the figures of predictors, and their content for JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from hpcsched.report.tables.report_table import MISSING, Cell, Table
from hpcsched.studies.predictor_evaluation.figures import PERCENTILES, PredictorFigures
from hpcsched.workload.trace_source import TraceAccount

_LEGEND = (
    "Nothing was dispatched: a job completes at its submit time plus its run time, and only then is"
    " it learnt from.",
    "Accuracy: run time / predicted run time. 1: right, more: under, less: over. Quantiles are by"
    " nearest rank.",
)


def evaluation_table(figures: Sequence[PredictorFigures]) -> Table:
    """Return a table in sections with a column for each predictor."""
    sections = [("all jobs", [list(row) for row in _rows(figures)])]
    for one in figures:
        if one.rules:
            sections.append((f"jobs by rule: {one.predictor}", _rule_rows(one, figures)))
    return Table.of_sections(
        ["", *(one.predictor for one in figures)],
        sections,
        name="predictors",
        title="Predictors",
        notes=_LEGEND,
    )


def evaluation_content(
    scenario: str, account: TraceAccount, figures: Sequence[PredictorFigures]
) -> dict[str, Any]:
    """Return the account of the trace and the exact figures of each predictor for JSON."""
    return {
        "scenario": scenario,
        "records": {
            "read": account.read,
            "skipped": dict(account.skipped),
            "clipped": dict(account.clipped),
            "changed": dict(account.changed),
            "submitted": account.submitted,
        },
        "predictors": [asdict(one) for one in figures],
    }


def values_table(figures: Sequence[PredictorFigures]) -> Table:
    """Return a table of exact values with a row for each predictor and figure, for CSV.

    `rule` is empty for the figures of all jobs.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in figures:
        # A long table, a row for each value: figures differ from predictor to predictor, as rules
        # do.
        values = asdict(one)
        title, accuracy, rules = (values.pop(name) for name in ("predictor", "accuracy", "rules"))
        values |= {f"accuracy_{name}": value for name, value in accuracy.items()}
        rows += ((title, "", name, value) for name, value in values.items())
        for rule in rules:
            by = rule.pop("rule")
            rows += ((title, by, name, value) for name, value in rule.items())
    columns = ("predictor", "rule", "figure", "value")
    return Table("predictors", "Predictors", tuple((name, "") for name in columns), tuple(rows))


def _rows(figures: Sequence[PredictorFigures]) -> Iterator[list[str]]:
    rows: list[tuple[str, Callable[[PredictorFigures], str]]] = [
        ("jobs", lambda one: f"{one.jobs:,}"),
        ("mean absolute error", lambda one: _minutes(one.mean_absolute_error_seconds)),
        ("median absolute error", lambda one: _minutes(one.median_absolute_error_seconds)),
        ("under: ran longer than predicted", lambda one: _percent(one.under_share)),
        ("exact", lambda one: _percent(one.exact_share)),
        ("over: predicted more", lambda one: _percent(one.over_share)),
        ("accuracy 0.75 to 1.25", lambda one: _percent(one.near_share)),
    ]
    for label, cell in rows:
        yield [label, *map(cell, figures)]
    for percent in PERCENTILES:
        name = f"p{percent}"
        yield [f"accuracy, {name}", *(_number(one.accuracy[name]) for one in figures)]


def _rule_rows(one: PredictorFigures, figures: Sequence[PredictorFigures]) -> list[list[str]]:
    """Return a line for each rule, with its share and mean absolute error below the predictor."""
    lines = []
    for rule in one.rules:
        cell = f"{_percent(rule.jobs_share)} ({_minutes(rule.mean_absolute_error_seconds)})"
        lines.append([rule.rule, *(cell if other is one else "" for other in figures)])
    return lines


def _minutes(seconds: float | None) -> str:
    return MISSING if seconds is None else f"{seconds / 60:,.1f} min"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.3f}"
