"""Commands that show runs: `compare`, `report`, `plot`, `explain` and `verify`."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hpcsched.audit import auditing
from hpcsched.audit.violations import AuditReport
from hpcsched.cli import options
from hpcsched.explain.explanation import explain_run
from hpcsched.report import studying
from hpcsched.report.job_breakdown import breakdown_table, breakdown_values, class_kinds
from hpcsched.report.run_choice import one_run_folder
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.run_comparison import values_table
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.directory import RunDirectory
from hpcsched.workload.readers.accounting_log import component_number, task_number

COMMANDS = {
    "compare": ("Look", "Compare runs: metrics, distributions, ranks, load."),
    "explain": ("Look", "Explain why a job started when it did."),
    "plot": ("Look", "Draw a figure of runs for papers."),
    "report": ("Look", "Write an HTML page about runs, with tables and figures."),
    "verify": ("Look", "Audit a run against its trace, system and records."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""


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
    FIDELITY = "fidelity"
    ALL = "all"


@options.with_option_groups
def compare(
    directories: options.SeveralRuns,
    *,
    table: Annotated[
        list[Shown] | None,
        typer.Option(help="A table to show; repeatable; metrics, unless --by is given."),
    ] = None,
    by: options.ByClass = None,
    recorded: options.Recorded = False,
    baseline: options.Baseline = None,
    output: options.TableOutput,
) -> None:
    """Compare runs: metrics, distributions, ranks, load.

    Metrics are given in percent of the baseline's; distributions and paired differences are over
    jobs, intervals over seeds. With --by, metrics are of each partition, user and so on. CSV and
    JSON have exact values.
    """
    kinds = class_kinds(by or ())
    wanted = list(dict.fromkeys(table or ([] if kinds else [Shown.METRICS])))
    if Shown.ALL in wanted:
        wanted = [name for name in Shown if name is not Shown.ALL]
    # Tables differ in their columns; one CSV file of several could not be read back.
    exact = output.format_ == "csv"
    if exact and len(wanted) + len(kinds) != 1:
        raise typer.BadParameter("csv holds one table: give --table or --by once, and not all")
    found = studying.compare_study(
        open_study(directories), baseline=baseline, kinds=kinds, recorded=recorded
    )
    others = [TABLES[name](found.study) for name in wanted if name is not Shown.METRICS]
    # CSV has a row for each value: exact, and with the directory of its run.
    metrics = values_table(found.comparison) if exact else found.metrics
    first = [metrics] if Shown.METRICS in wanted else []
    broken_down = breakdown_values if exact else breakdown_table
    by_class = [broken_down(one) for one in found.breakdowns.values()]
    output.show([*first, *others, *by_class], lambda: found.content(others))
    options.warn(*found.warnings)


def report(
    directories: options.SeveralRuns,
    out: options.NewFile = Path("report.html"),
    baseline: options.Baseline = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Runs compared",
    by: options.ByClass = None,
    *,
    recorded: options.Recorded = False,
    verify: Annotated[
        bool, typer.Option(help="Audit every run, which reads its trace again.")
    ] = True,
    force: options.Force = False,
) -> None:
    """Write an HTML page about runs, with tables and figures.

    The page is one file that needs no network. It holds the scenarios, the tables of `compare`,
    figures to zoom, and the verdict of an audit of each run. Metrics by class of jobs are of the
    classes in --by; by default of all that tell jobs apart.
    """
    kinds = class_kinds(by) if by else None
    page = studying.write_page(
        out,
        open_study(directories),
        baseline=baseline,
        kinds=kinds,
        recorded=recorded,
        title=title,
        verify=verify,
        force=force,
    )
    options.warn(*page.warnings)
    if page.not_ok:
        options.warn(f"the audit does not say ok: {', '.join(page.not_ok)}")
    typer.echo(f"wrote {out}")


def plot(
    kind: Annotated[studying.Kind, typer.Argument(help="The kind of figure.")],
    directories: options.SeveralRuns,
    *,
    out: options.NewFile,
    of: Annotated[
        Literal["wait_time", "response_time", "slowdown", "bounded_slowdown", "queue_size"] | None,
        typer.Option(help="Quantity of boxes and ecdf; bounded_slowdown by default."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Metric of bars, as in summary.json; the objective by default."),
    ] = None,
    resource: Annotated[
        str | None,
        typer.Option(help="Resource type; load: all by default; gantt: the first."),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", help="Begin of gantt: seconds, 2d12h or a date; the first start."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", help="End of gantt: seconds, 2d12h or a date; the last end."),
    ] = None,
    by: Annotated[
        Literal["user", "size"] | None,
        typer.Option(help="What colours of gantt show; users if there are several, or sizes."),
    ] = None,
    force: options.Force = False,
) -> None:
    """Draw a figure of runs for papers.

    Of a quantity of jobs or rounds: boxes (percentiles), ecdf (cumulative distribution). Of a
    metric: bars, with 95 % intervals. Over time: load (queue, resource use), gantt (jobs on nodes).
    Of rounds: decision-time (by queue length).
    """
    # Altair takes as long to import as all else together.
    from hpcsched.report.figures.chart_parts import format_of, write_figure

    asked = {"of": of, "metric": metric, "resource": resource, "from": begin, "to": end, "by": by}
    given = {name: value for name, value in asked.items() if value}
    for name in given:
        if kind not in _OPTIONS[name]:
            message = f"{kind} has no such option; it is of {', '.join(_OPTIONS[name])}"
            raise typer.BadParameter(message, param_hint=f"--{name}")
    # Before the runs are read: a mistyped name should not cost minutes.
    format_of(out)
    study = open_study(directories)
    keywords = {_KEYWORDS.get(name, name): value for name, value in given.items()}
    write_figure(studying.draw(kind, study, **keywords), out, force=force)
    options.warn(*study.warnings)
    typer.echo(f"wrote {out}")


_OPTIONS = {
    "of": ("boxes", "ecdf"),
    "metric": ("bars",),
    "resource": ("load", "gantt"),
    **dict.fromkeys(("from", "to", "by"), ("gantt",)),
}
"""Kinds of figures that have an option, by its name."""
_KEYWORDS = {"from": "begin", "to": "end"}
"""Parameters of figures that are not called as their options."""


@options.with_option_groups
def explain(
    directory: options.OneRun,
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="The number of the job, or Slurm's id of a part: 123_4."
        ),
    ],
    *,
    output: options.DataOutput,
) -> None:
    """Explain why a job started when it did.

    Shows the reasons for which it waited, how it started, and the jobs that it held up. The run
    must have recorded reasons: hpcsched run --explain.
    """
    run = RunDirectory.open(one_run_folder(directory))
    found = explain_run(run, _number_of(job))
    output.show(lambda: str(found), found.content)


def _number_of(text: str) -> int:
    """Return the number of a job from its number or the id of a part, as Slurm writes it."""
    if text.isdecimal():
        return int(text)
    for sign, number in (("_", task_number), ("+", component_number)):
        job, _, part = text.partition(sign)
        if job.isdecimal() and part.isdecimal():
            with suppress(ValueError):
                return number(int(job), int(part))
    message = f"expected the number of a job, or an id such as 123_4 or 123+1; found {text!r}"
    raise typer.BadParameter(message, param_hint="JOB")


@options.with_option_groups
def verify(
    directory: options.OneRun,
    *,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run the scenario again, and compare every start.")
    ] = False,
    output: options.DataOutput,
) -> None:
    """Audit a run against its trace, system and records.

    Prints each check with the violations found. Exits with 1 if there is a violation, or if
    --replay cannot replay the run.
    """
    run = RunDirectory.open(one_run_folder(directory))
    audit = auditing.audit_directory(run)
    # After the audit, which may already show why a replay would differ.
    again = auditing.replay_directory(run) if replay else None
    ok = audit.ok and (again is None or (not isinstance(again, str) and again.ok))
    content: dict[str, Any] = {
        "run": run.manifest.scenario,
        "status": run.manifest.status,
        "ok": ok,
        "checks": [asdict(check) for check in audit.checks],
    }
    if isinstance(again, str):
        content["replay"] = {"not_replayed": again}
    elif again is not None:
        content["replay"] = {"checks": [asdict(check) for check in again.checks]}
    lines = [*audit.lines(), *_replay_lines(again), "ok" if ok else "not ok"]
    if run.partial:
        lines.insert(0, f"partial: the run was {run.manifest.status}; its records are checked")
    output.show(lambda: "\n".join(lines), lambda: content)
    if not ok:
        raise typer.Exit(1)


def _replay_lines(again: AuditReport | str | None) -> Iterator[str]:
    """Yield the checks of a replay, then its outcome; `again` is the reason if it was not made."""
    if again is None:
        yield "checked against its own records, its trace and its scenario; not replayed"
    elif isinstance(again, str):
        yield f"not replayed: {again}"
    else:
        yield from again.lines()
        starts = again.checks[0]
        yield f"replayed: {starts.looked_at - starts.count} of {starts.looked_at} starts equal"
