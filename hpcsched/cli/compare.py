"""`hpcsched compare`: figures of several runs side by side."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How the comparison is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    JSON = "json"


class Shown(StrEnum):
    """Which tables are written."""

    METRICS = "metrics"
    DISTRIBUTION = "distribution"
    CLASSES = "classes"
    PAIRED = "paired"
    REPLICAS = "replicas"
    RANKS = "ranks"
    LOAD = "load"
    DECISION_TIME = "decision-time"
    CPU_MEMORY = "cpu-memory"
    ALL = "all"


def compare(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Run directories, or folders that hold them, such as an experiment's.",
            show_default=False,
        ),
    ],
    table: Annotated[
        list[Shown] | None,
        typer.Option(
            help="What to show; can be given several times. The metrics, if not given.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="What the others are compared with: a run's name or directory, or what was varied"
            " in an experiment. The first, if not given.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text and markdown for people, latex for papers, csv and json for programs, with"
            " exact values.",
        ),
    ] = Format.TEXT,
) -> None:
    """Compare runs: metrics, distributions, differences job by job, ranks, load, decision times."""
    import shutil
    import sys

    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.studied_runs import find_baseline, open_study
    from hpcsched.report.tables import rendering, tables
    from hpcsched.report.tables.comparison import compare_runs
    from hpcsched.report.tables.study_tables import TABLES

    wanted = list(dict.fromkeys(table or [Shown.METRICS]))
    if Shown.ALL in wanted:
        wanted = [name for name in Shown if name is not Shown.ALL]
    if format_ is Format.CSV and len(wanted) != 1:
        raise typer.BadParameter("csv holds one table: give --table once, and not all")
    study = open_study(directories)
    base = find_baseline(study, baseline)
    names = [one.name for one in study.runs]
    comparison = compare_runs([one.run for one in study.runs], base.name, names)
    compared = ComparedStudy(study, base.contender)
    others = [TABLES[name](compared) for name in wanted if name is not Shown.METRICS]
    first = Shown.METRICS in wanted
    terminal, width = sys.stdout.isatty(), shutil.get_terminal_size().columns
    written: list[str] = []
    match format_:
        case Format.TEXT:
            written = (
                [rendering.as_text(comparison, terminal=terminal, width=width)] if first else []
            )
            written += [
                tables.table_as_text(other, terminal=terminal, width=width) for other in others
            ]
        case Format.MARKDOWN:
            written = [rendering.as_markdown(comparison)] if first else []
            written += [tables.table_as_markdown(other) for other in others]
        case Format.LATEX:
            written = [rendering.as_latex(comparison)] if first else []
            written += [tables.table_as_latex(other) for other in others]
        case Format.CSV:
            written = [rendering.as_csv(comparison)] if first else []
            written += [tables.table_as_csv(other) for other in others]
        case Format.JSON:
            written = [rendering.as_json(comparison, others)]
    typer.echo("\n\n".join(written))
    for warning in (*study.warnings, *comparison.warnings):
        typer.echo(f"warning: {warning}", err=True)
