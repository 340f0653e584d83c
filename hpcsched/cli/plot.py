"""`hpcsched plot`: pictures of runs for papers."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.pictures import Draw

app = typer.Typer(name="plot", no_args_is_help=True, help="Draw pictures of runs for papers.")


class Of(StrEnum):
    """What jobs have, one by one; and how many are queued before each round."""

    WAIT_TIME = "wait_time"
    RESPONSE_TIME = "response_time"
    SLOWDOWN = "slowdown"
    BOUNDED_SLOWDOWN = "bounded_slowdown"
    QUEUE_SIZE = "queue_size"


Directories = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR...",
        help="Run directories, or folders that hold them, such as an experiment's.",
        show_default=False,
    ),
]
Out = Annotated[
    Path,
    typer.Option(help="The file to write; it ends in .pdf, .svg or .png.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Quantity = Annotated[Of, typer.Option("--of", help="What is drawn of each job, or of each round.")]


@app.command()
def boxes(
    directories: Directories, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw a box for each run, by trace: quartiles, median, mean, least and largest value."""
    from hpcsched.report.figures.pictures import draw_boxes

    _write(directories, lambda compared: draw_boxes(compared, of), out, force=force)


@app.command()
def ecdf(
    directories: Directories, out: Out, of: Quantity = Of.BOUNDED_SLOWDOWN, force: Force = False
) -> None:
    """Draw the share of jobs, or rounds, up to each value, with a panel for each trace."""
    from hpcsched.report.figures.pictures import draw_shares

    _write(directories, lambda compared: draw_shares(compared, of), out, force=force)


@app.command()
def bars(
    directories: Directories,
    out: Out,
    metric: Annotated[
        str, typer.Option(help="The metric, by its name in the summary.")
    ] = "mean_bounded_slowdown",
    force: Force = False,
) -> None:
    """Draw a metric as bars, with 95 % intervals over seeds, or over jobs if it is their mean."""
    from hpcsched.report.figures.pictures import draw_bars

    _write(directories, lambda compared: draw_bars(compared, metric), out, force=force)


@app.command()
def load(
    directories: Directories,
    out: Out,
    resource: Annotated[
        str | None,
        typer.Option(help="The resource type; the first, if not given.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Draw how many jobs waited, and how much of a resource type was in use, over time."""
    from hpcsched.report.figures.pictures import draw_load

    _write(directories, lambda compared: draw_load(compared, resource), out, force=force)


@app.command(name="decision-time")
def decision_time(directories: Directories, out: Out, force: Force = False) -> None:
    """Draw how long the dispatcher took, by the length of the queue."""
    from hpcsched.report.figures.pictures import draw_decision_times

    _write(directories, draw_decision_times, out, force=force)


@app.command()
def choices(directories: Directories, out: Out, force: Force = False) -> None:
    """Draw which dispatcher decided when, of those that `hyper` chose from."""
    from hpcsched.report.figures.dispatcher_choices import draw_choices

    _write(directories, draw_choices, out, force=force)


@app.command(name="cpu-time")
def cpu_time(directories: Directories, out: Out, force: Force = False) -> None:
    """Draw the mean CPU time of a round, in its parts; needs the observer `cpu-memory`."""
    from hpcsched.report.figures.process_usage import draw_cpu_time

    _write(directories, draw_cpu_time, out, force=force)


@app.command(name="cpu-memory")
def cpu_memory(directories: Directories, out: Out, force: Force = False) -> None:
    """Draw CPU time and memory over simulated time; needs the observer `cpu-memory`."""
    from hpcsched.report.figures.process_usage import draw_cpu_over_time

    _write(directories, draw_cpu_over_time, out, force=force)


@app.command()
def gantt(
    directories: Directories,
    out: Out,
    *,
    begin: Annotated[
        int | None,
        typer.Option(
            "--from",
            help="Where the window begins, in simulated seconds; the first start, if not given.",
            show_default=False,
        ),
    ] = None,
    end: Annotated[
        int | None,
        typer.Option(
            "--to",
            help="Where it ends, in simulated seconds; the last end, if not given.",
            show_default=False,
        ),
    ] = None,
    resource: Annotated[
        list[str] | None,
        typer.Option(
            help="A resource type to draw; can be given several times. The first, if not given.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Draw which job was on which node when, as rectangles."""
    from hpcsched.report.figures.gantt_picture import draw_gantt

    def drawing(compared: "ComparedStudy") -> "Draw":
        return draw_gantt(compared.study, resource or (), begin, end)

    _write(directories, drawing, out, force=force)


def _write(
    directories: list[Path],
    drawing: "Callable[[ComparedStudy], Draw]",
    out: Path,
    *,
    force: bool,
) -> None:
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.picture_files import check_free, format_of, write_picture
    from hpcsched.report.studied_runs import open_study

    format_of(out)
    check_free(out, force=force)
    study = open_study(directories)
    write_picture(drawing(ComparedStudy(study)), out, force=force)
    for warning in study.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"wrote {out}")
