"""`hpcsched compare`: tables of several runs side by side."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from hpcsched.cli.output import OutFile, TableFormat, TableFormatOption
from hpcsched.cli.shared_options import Baseline, SeveralRuns


class Shown(StrEnum):
    """The tables of a comparison."""

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
    directories: SeveralRuns,
    table: Annotated[
        list[Shown] | None,
        typer.Option(
            help="A table to show; can be repeated; metrics by default.",
            show_default=False,
        ),
    ] = None,
    baseline: Baseline = None,
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Compare runs: metrics, distributions, ranks, load.

    Metrics are given in percent of the baseline's; distributions and paired differences are over
    jobs, intervals over seeds. CSV and JSON have exact values.
    """
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.tables.comparison_table import (
        comparison_content,
        comparison_table,
        values_table,
    )
    from hpcsched.report.tables.run_comparison import compare_runs
    from hpcsched.report.tables.study_tables import TABLES

    wanted = list(dict.fromkeys(table or [Shown.METRICS]))
    if Shown.ALL in wanted:
        wanted = [name for name in Shown if name is not Shown.ALL]
    # Tables differ in their columns; one CSV file of several could not be read back.
    if format_ is TableFormat.CSV and len(wanted) != 1:
        raise typer.BadParameter("csv holds one table: give --table once, and not all")
    study = open_study(directories)
    compared = ComparedStudy(study, baseline)
    comparison = compare_runs(compared)
    others = [TABLES[name](compared) for name in wanted if name is not Shown.METRICS]
    # CSV has a row for each value: exact, and with the directory of its run.
    metrics = values_table if format_ is TableFormat.CSV else comparison_table
    first = [metrics(comparison)] if Shown.METRICS in wanted else []

    def content() -> dict[str, Any]:
        extra = {"tables": {other.name: other.content() for other in others}} if others else {}
        return {**comparison_content(comparison), **extra}

    emit(tables_text([*first, *others], format_, content, out=out), out)
    for warning in (*study.warnings, *comparison.warnings):
        typer.echo(f"warning: {warning}", err=True)
