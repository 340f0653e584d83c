"""Writes a comparison as text, Markdown, LaTeX, CSV or JSON."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from hpcsched.report.tables.comparison import Comparison, Row
from hpcsched.report.tables.tables import MISSING, ReportTable, table_as_latex, table_content
from hpcsched.results.solver_rounds import MARK, in_words


def as_text(comparison: Comparison, *, terminal: bool, width: int | None = None) -> str:
    """Return a table with a column for each run, and below it what each metric is over.

    On a terminal the table is drawn and fits its width; otherwise it is plain and aligned, however
    wide that is.
    """
    header, *lines = _cells(comparison)
    if terminal:
        table = Table(box=box.SIMPLE, show_edge=False)
        for k, title in enumerate(header):
            table.add_column(title, justify="right" if k > 1 else "left", overflow="fold")
        for line in lines:
            table.add_row(*line)
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=width, markup=False).print(table)
        drawn = out.getvalue().rstrip("\n")
    else:
        drawn = _aligned([header, *lines])
    return "\n".join([drawn, "", *_legend(comparison)])


def as_markdown(comparison: Comparison) -> str:
    """Return a Markdown table with a column for each run, and what each metric is over."""
    header, *lines = _cells(comparison)
    rule = ["---" if k < 2 else "---:" for k in range(len(header))]
    rows = [header, rule, *lines]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*table, "", *(f"- {line}" for line in _legend(comparison))])


def as_csv(comparison: Comparison) -> str:
    """Return a row for each metric and run, with exact values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    what = ("metric", "unit", "parameters", "population")
    writer.writerow([*what, "run", "directory", "value", "percent_of_baseline"])
    for row in comparison.rows:
        runs = zip(comparison.names, comparison.directories, row.values, row.percent, strict=True)
        about = (row.metric, row.unit, row.parameters, row.population)
        writer.writerows([*about, *run] for run in runs)
    return out.getvalue().rstrip("\n")


def as_latex(comparison: Comparison) -> str:
    """Return a LaTeX table with a column for each run, and what each metric is over."""
    return table_as_latex(comparison_table(comparison))


def comparison_table(comparison: Comparison) -> ReportTable:
    """Return the comparison as a table of text with a column for each run."""
    header, *lines = _cells(comparison)
    return ReportTable(
        "metrics",
        "Metrics",
        tuple((title, "") for title in header),
        tuple(tuple(line) for line in lines),
        tuple(_legend(comparison)),
        frozenset(range(2, len(header))),
    )


def as_json(comparison: Comparison, tables: Iterable[ReportTable] = ()) -> str:
    """Return the comparison as JSON: exact values in the order of the runs, and the warnings.

    Other tables are under `tables`, by name, if there are any.
    """
    names = comparison.names
    content: dict[str, Any] = {
        "baseline": names[comparison.baseline],
        "runs": [
            {"name": name, "directory": str(directory), "solver": asdict(rounds)}
            for name, directory, rounds in zip(
                names, comparison.directories, comparison.solver, strict=True
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
    }
    others = {table.name: table_content(table) for table in tables}
    if others:
        content["tables"] = others
    return json.dumps(content, indent=2, ensure_ascii=False)


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
                _value(value, None if k == comparison.baseline else percent)
                for k, (value, percent) in enumerate(zip(row.values, row.percent, strict=True))
            ]
            for row in comparison.rows
        ),
    ]


def _marked(comparison: Comparison) -> Iterator[str]:
    """Yield the names of the runs, marked where too many rounds with a solver had no plan."""
    for name, rounds in zip(comparison.names, comparison.solver, strict=True):
        yield f"{name} {MARK}" if rounds.too_many else name


def _title(row: Row) -> str:
    return f"{row.metric} ({row.parameters})" if row.parameters else row.metric


def _value(value: float | None, percent: float | None) -> str:
    if value is None:
        return MISSING
    number = str(value) if isinstance(value, int) else f"{value:.6g}"
    return number if percent is None else f"{number} ({percent:.1f} %)"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _legend(comparison: Comparison) -> list[str]:
    """Return a line for each population, and for each run in which a solver had no plan."""
    over: dict[str, list[str]] = {}
    for row in comparison.rows:
        over.setdefault(row.population or "population not stated", []).append(row.metric)
    baseline = comparison.names[comparison.baseline]
    return [
        f"In brackets: percent of {baseline}. Unit s: seconds; unit 1: a ratio.",
        *(f"Over {population}: {', '.join(metrics)}." for population, metrics in over.items()),
        *(
            f"{name}: {in_words(rounds)}."
            for name, rounds in zip(_marked(comparison), comparison.solver, strict=True)
            if rounds.unsolved
        ),
        *(
            f"{name}: {followed}."
            for name, followed in zip(comparison.names, comparison.recorded, strict=True)
            if followed is not None
        ),
    ]
