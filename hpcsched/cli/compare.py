"""`hpcsched compare`: tables of several runs side by side."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from hpcsched.cli.output import OutFile, TableFormat, TableFormatOption
from hpcsched.cli.shared_options import Baseline, ByClass, SeveralRuns, class_kinds


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
    *,
    table: Annotated[
        list[Shown] | None,
        typer.Option(
            help="A table to show; repeatable; metrics, unless --by is given.",
            show_default=False,
        ),
    ] = None,
    by: ByClass = None,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Add the log's own schedule, also for --baseline recorded.",
        ),
    ] = False,
    baseline: Baseline = None,
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Compare runs: metrics, distributions, ranks, load.

    Metrics are given in percent of the baseline's; distributions and paired differences are over
    jobs, intervals over seeds. With --by, metrics are of each partition, user and so on. CSV and
    JSON have exact values.
    """
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.tables.breakdown_table import breakdown_table, breakdown_values
    from hpcsched.report.tables.comparison_table import (
        comparison_content,
        comparison_table,
        values_table,
    )
    from hpcsched.report.tables.run_comparison import compare_runs
    from hpcsched.report.tables.study_tables import TABLES
    from hpcsched.runs.breakdowns import breakdowns
    from hpcsched.runs.recorded_schedule import NAME, recorded_schedule

    kinds = class_kinds(by or ())
    wanted = list(dict.fromkeys(table or ([] if kinds else [Shown.METRICS])))
    if Shown.ALL in wanted:
        wanted = [name for name in Shown if name is not Shown.ALL]
    # Tables differ in their columns; one CSV file of several could not be read back.
    if format_ is TableFormat.CSV and len(wanted) + len(kinds) != 1:
        raise typer.BadParameter("csv holds one table: give --table or --by once, and not all")
    study = open_study(directories)
    names = {name for one in study.runs for name in (one.name, one.contender)}
    log_is_baseline = recorded and baseline == NAME and NAME not in names
    compared = ComparedStudy(study, None if log_is_baseline else baseline)
    log = recorded_schedule(compared) if recorded else None
    column = None if log is None else log.column
    comparison = compare_runs(compared, column, log_is_baseline=log_is_baseline)
    others = [TABLES[name](compared) for name in wanted if name is not Shown.METRICS]
    schedule = None if log is None else log.schedule
    found = list(breakdowns(compared, kinds, schedule, log_is_baseline=log_is_baseline))
    # CSV has a row for each value: exact, and with the directory of its run.
    exact = format_ is TableFormat.CSV
    metrics = values_table if exact else comparison_table
    first = [metrics(comparison)] if Shown.METRICS in wanted else []
    broken_down = breakdown_values if exact else breakdown_table
    by_class = [broken_down(one) for one in found]

    def content() -> dict[str, Any]:
        tables = [*others, *map(breakdown_values, found)]
        extra = {"tables": {one.name: one.content() for one in tables}} if tables else {}
        return {**comparison_content(comparison), **extra}

    emit(tables_text([*first, *others, *by_class], format_, content, out=out), out)
    for warning in (*study.warnings, *comparison.warnings):
        typer.echo(f"warning: {warning}", err=True)
