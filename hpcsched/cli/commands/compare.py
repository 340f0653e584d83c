"""`hpcsched compare`: tables of several runs side by side."""

from enum import StrEnum
from typing import Annotated

import typer

from hpcsched.cli.options import (
    Baseline,
    ByClass,
    Recorded,
    SeveralRuns,
    with_option_groups,
)
from hpcsched.cli.output import TableFormat, TableOutput

PANEL = "Look"


class Shown(StrEnum):
    """The tables of a comparison."""

    METRICS = "metrics"
    DISTRIBUTION = "distribution"
    PAIRED = "paired"
    REPLICAS = "replicas"
    RANKS = "ranks"
    LOAD = "load"
    DECISION_TIME = "decision-time"
    CPU_MEMORY = "cpu-memory"
    ALL = "all"


@with_option_groups
def compare(
    directories: SeveralRuns,
    *,
    table: Annotated[
        list[Shown] | None,
        typer.Option(help="A table to show; repeatable; metrics, unless --by is given."),
    ] = None,
    by: ByClass = None,
    recorded: Recorded = False,
    baseline: Baseline = None,
    output: TableOutput,
) -> None:
    """Compare runs: metrics, distributions, ranks, load.

    Metrics are given in percent of the baseline's; distributions and paired differences are over
    jobs, intervals over seeds. With --by, metrics are of each partition, user and so on. CSV and
    JSON have exact values.
    """
    from hpcsched.report.job_breakdown import breakdown_table, breakdown_values
    from hpcsched.report.job_classes import class_kinds
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.studying import compare_study
    from hpcsched.report.tables.run_comparison import values_table
    from hpcsched.report.tables.study_tables import TABLES

    kinds = class_kinds(by or ())
    wanted = list(dict.fromkeys(table or ([] if kinds else [Shown.METRICS])))
    if Shown.ALL in wanted:
        wanted = [name for name in Shown if name is not Shown.ALL]
    # Tables differ in their columns; one CSV file of several could not be read back.
    if output.format_ is TableFormat.CSV and len(wanted) + len(kinds) != 1:
        raise typer.BadParameter("csv holds one table: give --table or --by once, and not all")
    found = compare_study(
        open_study(directories), baseline=baseline, kinds=kinds, recorded=recorded
    )
    others = [TABLES[name](found.study) for name in wanted if name is not Shown.METRICS]
    # CSV has a row for each value: exact, and with the directory of its run.
    exact = output.format_ is TableFormat.CSV
    metrics = values_table(found.comparison) if exact else found.metrics
    first = [metrics] if Shown.METRICS in wanted else []
    broken_down = breakdown_values if exact else breakdown_table
    by_class = [broken_down(one) for one in found.breakdowns.values()]
    tables = [*first, *others, *by_class]
    output.show(tables, lambda: found.content(others))
    for warning in found.warnings:
        typer.echo(f"warning: {warning}", err=True)
