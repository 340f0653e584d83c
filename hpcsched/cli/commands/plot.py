"""`hpcsched plot`: figures of runs for papers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli.options import Force, SeveralRuns

PANEL = "Look"


class Kind(StrEnum):
    """The kinds of figures."""

    BOXES = "boxes"
    ECDF = "ecdf"
    BARS = "bars"
    LOAD = "load"
    GANTT = "gantt"
    DECISION_TIME = "decision-time"
    CHOICES = "choices"


class Of(StrEnum):
    """Quantities of each job, and the queue length before each round."""

    WAIT_TIME = "wait_time"
    RESPONSE_TIME = "response_time"
    SLOWDOWN = "slowdown"
    BOUNDED_SLOWDOWN = "bounded_slowdown"
    QUEUE_SIZE = "queue_size"


class Attribute(StrEnum):
    """Attributes of jobs that the colours of a Gantt chart show."""

    USER = "user"
    SIZE = "size"
    JOB = "job"


_OPTIONS = {
    "of": (Kind.BOXES, Kind.ECDF),
    "metric": (Kind.BARS,),
    "resource": (Kind.LOAD, Kind.GANTT),
    **dict.fromkeys(("from", "to", "by"), (Kind.GANTT,)),
}
"""Kinds of figures that have an option, by its name."""
_KEYWORDS = {"from": "begin", "to": "end"}
"""Parameters of figures that are not called as their options."""


def plot(
    kind: Annotated[Kind, typer.Argument(help="The kind of figure.")],
    directories: SeveralRuns,
    *,
    out: Annotated[Path, typer.Option(help="The file to write: .pdf, .svg or .png.")],
    of: Annotated[
        Of | None,
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
        Attribute | None,
        typer.Option(help="What colours of gantt show; users if there are several, or sizes."),
    ] = None,
    force: Force = False,
) -> None:
    """Draw a figure of runs for papers.

    Of a quantity of jobs or rounds: boxes (percentiles), ecdf (cumulative distribution). Of a
    metric: bars, with 95 % intervals. Over time: load (queue, resource use), gantt (jobs on nodes),
    choices (dispatchers that hyper chose). Of rounds: decision-time (by queue length).
    """
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.figure_files import format_of, write_figure
    from hpcsched.report.figures.figure_kinds import FIGURES
    from hpcsched.report.studied_runs import open_study
    from hpcsched.whole_files import check_target

    options: dict[str, Any] = {
        "of": of, "metric": metric, "resource": resource, "from": begin, "to": end,
        "by": by and by.value,
    }  # fmt: skip
    options = {name: value for name, value in options.items() if value}
    for name in options:
        if kind not in _OPTIONS[name]:
            message = f"{kind} has no such option; it is of {', '.join(_OPTIONS[name])}"
            raise typer.BadParameter(message, param_hint=f"--{name}")
    if kind is Kind.GANTT and resource:
        options["resources"] = [options.pop("resource")]
    format_of(out)
    # Before the runs are read: a mistyped name should not cost minutes.
    check_target(out, force=force)
    study = open_study(directories)
    keywords = {_KEYWORDS.get(name, name): value for name, value in options.items()}
    write_figure(FIGURES[kind](ComparedStudy(study), **keywords).chart, out, force=force)
    for warning in study.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"wrote {out}")
