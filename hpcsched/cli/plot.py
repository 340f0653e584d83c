"""`hpcsched plot`: figures of runs for papers."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.shared_options import Force, SeveralRuns

if TYPE_CHECKING:
    from hpcsched.report.studying import Kind

app = typer.Typer(name="plot", no_args_is_help=True, help="Draw figures of runs for papers.")


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
    RUN_TIME = "run-time"
    STATE = "state"
    JOB = "job"


Out = Annotated[
    Path,
    typer.Option(help="The file to write: .pdf, .svg or .png.", show_default=False),
]
Quantity = Annotated[Of, typer.Option("--of", help="The quantity of each job or round.")]


@app.command()
def boxes(
    directories: SeveralRuns, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw the percentiles of a quantity of each run.

    A row shows P25, P50, P75, P90, P99 and the mean, the least and the largest value, and the share
    of values at the least one.
    """
    _write("boxes", directories, out, force=force, of=of)


@app.command()
def ecdf(
    directories: SeveralRuns, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw the cumulative distribution of a quantity."""
    _write("ecdf", directories, out, force=force, of=of)


@app.command()
def survival(
    directories: SeveralRuns, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw the share of jobs above each value, with its tail."""
    _write("survival", directories, out, force=force, of=of)


@app.command()
def bars(
    directories: SeveralRuns,
    out: Out,
    metric: Annotated[
        str | None,
        typer.Option(
            help="A metric's name in summary.json; the objective by default.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Draw a metric as bars with 95 % intervals.

    Intervals are over seeds, or over jobs for a mean over the jobs of single runs.
    """
    _write("bars", directories, out, force=force, metric=metric)


@app.command()
def load(
    directories: SeveralRuns,
    out: Out,
    resource: Annotated[
        str | None,
        typer.Option(help="The resource type; all by default.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Draw queue length and resource use over time."""
    _write("load", directories, out, force=force, resource=resource)


@app.command(name="decision-time")
def decision_time(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw the decision time by queue length."""
    _write("decision-time", directories, out, force=force)


@app.command()
def choices(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw which dispatcher `hyper` chose over time."""
    _write("choices", directories, out, force=force)


@app.command(name="cpu-time")
def cpu_time(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw the mean CPU time of a round, by part.

    The runs must have the observer `cpu-memory`.
    """
    _write("cpu-time", directories, out, force=force)


@app.command(name="cpu-memory")
def cpu_memory(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw CPU time and memory over simulated time.

    The runs must have the observer `cpu-memory`.
    """
    _write("cpu-memory", directories, out, force=force)


@app.command()
def gantt(
    directories: SeveralRuns,
    out: Out,
    *,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Begin: seconds, 2d12h or a date; the first start by default.",
            show_default=False,
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="End: seconds, 2d12h or a date; the last end by default.",
            show_default=False,
        ),
    ] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM..TO",
            help="Shade this span, as 12h..1d or by dates; can be repeated.",
            show_default=False,
        ),
    ] = None,
    resource: Annotated[
        list[str] | None,
        typer.Option(
            help="A resource type to draw; can be repeated; the first by default.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        Attribute | None,
        typer.Option(
            help="What colours show; users by default if there are several, else sizes.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Draw jobs on nodes over time as rectangles.

    Above is the use of the resource type. Times are dates if the trace has them.
    """
    marks = [_both_bounds(text) for text in mark or ()]
    options = {"begin": begin, "end": end, "marks": marks, "resources": resource or ()}
    _write("gantt", directories, out, force=force, **options, by=by and by.value)


def _both_bounds(text: str) -> tuple[str, str]:
    """Return the times before and after the dots of `--mark`."""
    begin, dots, end = text.partition("..")
    if not (begin.strip() and dots and end.strip()):
        message = f"expected two times with '..' between them, such as 12h..1d, found {text!r}"
        raise typer.BadParameter(message, param_hint="--mark")
    return begin.strip(), end.strip()


def _write(
    kind: "Kind", directories: list[Path], out: Path, *, force: bool, **options: Any
) -> None:
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.figure_files import format_of, write_figure
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.studying import figure_of
    from hpcsched.whole_files import check_target

    format_of(out)
    # Before the runs are read: a mistyped name should not cost minutes.
    check_target(out, force=force)
    study = open_study(directories)
    write_figure(figure_of(kind, ComparedStudy(study), **options).chart, out, force=force)
    for warning in study.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"wrote {out}")
