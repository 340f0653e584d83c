"""`hpcsched plot`: figures of runs for papers."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.shared_options import Force, SeveralRuns

if TYPE_CHECKING:
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.chart_parts import Figure

app = typer.Typer(name="plot", no_args_is_help=True, help="Draw figures of runs for papers.")


class Of(StrEnum):
    """Quantities of each job, and the queue length before each round."""

    WAIT_TIME = "wait_time"
    RESPONSE_TIME = "response_time"
    SLOWDOWN = "slowdown"
    BOUNDED_SLOWDOWN = "bounded_slowdown"
    QUEUE_SIZE = "queue_size"


Out = Annotated[
    Path,
    typer.Option(help="The file to write: .pdf, .svg or .png.", show_default=False),
]
Quantity = Annotated[Of, typer.Option("--of", help="The quantity of each job or round.")]


@app.command()
def boxes(
    directories: SeveralRuns, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw a box of a quantity for each run.

    A box shows quartiles, median and mean, its whiskers the least and the largest value.
    """
    from hpcsched.report.figures.distribution_figures import box_figure

    _write(directories, lambda compared: box_figure(compared, of), out, force=force)


@app.command()
def ecdf(
    directories: SeveralRuns, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw the cumulative distribution of a quantity."""
    from hpcsched.report.figures.distribution_figures import distribution_figure

    _write(directories, lambda compared: distribution_figure(compared, of), out, force=force)


@app.command()
def bars(
    directories: SeveralRuns,
    out: Out,
    metric: Annotated[
        str, typer.Option(help="The metric, by its name in summary.json.")
    ] = "mean_bounded_slowdown",
    force: Force = False,
) -> None:
    """Draw a metric as bars with 95 % intervals.

    Intervals are over seeds, or over jobs for a mean over the jobs of single runs.
    """
    from hpcsched.report.figures.metric_figure import metric_figure

    _write(directories, lambda compared: metric_figure(compared, metric), out, force=force)


@app.command()
def load(
    directories: SeveralRuns,
    out: Out,
    resource: Annotated[
        str | None,
        typer.Option(help="The resource type; the first by default.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Draw queue length and resource use over time."""
    from hpcsched.report.figures.load_figure import load_figure

    _write(directories, lambda compared: load_figure(compared, resource), out, force=force)


@app.command(name="decision-time")
def decision_time(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw the decision time by queue length."""
    from hpcsched.report.figures.decision_time_figure import decision_time_figure

    _write(directories, decision_time_figure, out, force=force)


@app.command()
def choices(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw which dispatcher `hyper` chose over time."""
    from hpcsched.report.figures.choice_figure import choice_figure

    _write(directories, choice_figure, out, force=force)


@app.command(name="cpu-time")
def cpu_time(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw the mean CPU time of a round, by part.

    The runs must have the observer `cpu-memory`.
    """
    from hpcsched.report.figures.process_usage_figures import cpu_time_figure

    _write(directories, cpu_time_figure, out, force=force)


@app.command(name="cpu-memory")
def cpu_memory(directories: SeveralRuns, out: Out, force: Force = False) -> None:
    """Draw CPU time and memory over simulated time.

    The runs must have the observer `cpu-memory`.
    """
    from hpcsched.report.figures.process_usage_figures import cpu_over_time_figure

    _write(directories, cpu_over_time_figure, out, force=force)


@app.command()
def gantt(
    directories: SeveralRuns,
    out: Out,
    *,
    begin: Annotated[
        int | None,
        typer.Option(
            "--from",
            help="First simulated second; the first start by default.",
            show_default=False,
        ),
    ] = None,
    end: Annotated[
        int | None,
        typer.Option(
            "--to",
            help="Last simulated second; the last end by default.",
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
    force: Force = False,
) -> None:
    """Draw jobs on nodes over time as rectangles."""
    from hpcsched.report.figures.gantt_figure import gantt_figure

    def drawing(compared: "ComparedStudy") -> "Figure":
        return gantt_figure(compared.study, resource or (), begin, end)

    _write(directories, drawing, out, force=force)


def _write(
    directories: list[Path],
    drawing: "Callable[[ComparedStudy], Figure]",
    out: Path,
    *,
    force: bool,
) -> None:
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.figure_files import check_free, format_of, write_figure
    from hpcsched.report.studied_runs import open_study

    format_of(out)
    # Before the runs are read: a mistyped name should not cost minutes.
    check_free(out, force=force)
    study = open_study(directories)
    write_figure(drawing(ComparedStudy(study)).chart, out, force=force)
    for warning in study.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"wrote {out}")
