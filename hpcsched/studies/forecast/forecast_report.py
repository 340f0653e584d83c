"""Forecasts and their evaluation as tables, figure and content for JSON; the progress bar."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import altair as alt
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from hpcsched.report.figures.chart_parts import (
    Figure,
    chart_of,
    layers,
    plot_width,
    rows,
    sized,
    time_unit,
)
from hpcsched.report.figures.figure_style import INK, PALETTE, PAPER_WIDTH, lighter
from hpcsched.report.tables.report_table import Cell, Table, duration_text
from hpcsched.studies.forecast.forecast_evaluation import INTERVALS, Evaluation
from hpcsched.studies.forecast.forecasting import Forecast


def forecast_table(found: Forecast) -> Table:
    """Return the forecasts of jobs as a table: times from now until the start."""
    header = (
        "job",
        "units",
        "requested",
        "waits for",
        *(f"{100 * share:g} %" for share in found.quantiles),
    )
    rows = [
        (
            "supposed" if job.job_id is None else str(job.job_id),
            str(job.units),
            duration_text(job.requested_time),
            duration_text(found.now - job.submit_time),
            *(
                "now" if start <= found.now else duration_text(start - found.now)
                for start in job.starts
            ),
        )
        for job in found.jobs
    ]
    return Table.formatted(
        header,
        rows,
        name="forecast",
        title=f"Starts after {found.calendar.instant(found.now)}, with {found.running} jobs"
        " running",
        notes=(
            "The columns with % are quantiles of the time until the start: so many of"
            f" {found.samples} sampled futures start the job within it.",
        ),
    )


def _until(seconds: int) -> str:
    return duration_text(seconds) if seconds else "now"


def forecast_content(found: Forecast) -> dict[str, Any]:
    """Return a forecast as content for JSON; times in seconds since the trace's origin."""
    return {
        "now": found.now,
        "running": found.running,
        "samples": found.samples,
        "quantiles": list(found.quantiles),
        "jobs": [job._asdict() | {"starts": list(job.starts)} for job in found.jobs],
    }


def evaluation_table(found: Evaluation) -> Table:
    """Return the scores of forecasts and baselines as a table."""
    return Table(
        "forecast-evaluation",
        "Forecasts of start times, compared with the starts",
        (
            ("instant", ""),
            ("forecast by", ""),
            ("jobs", ""),
            ("within 1 min", "%"),
            ("within 10 min", "%"),
            ("mean error", "s"),
            ("median error", "s"),
            ("CRPS", "s"),
            *((f"in {100 * share:g} % interval", "%") for share in INTERVALS),
        ),
        tuple(_rows(found)),
        (
            f"Population: drawn from the {found.waited:,} of {found.jobs:,} jobs that waited, after"
            " the first tenth of the trace.",
            "An hour before: at the last submission at least an hour before the start.",
            "Errors are absolute ones of the forecast median. CRPS: mean continuous ranked"
            " probability score; of a single value it is the absolute error.",
        ),
    )


def _rows(found: Evaluation) -> Iterator[tuple[Cell, ...]]:
    for instant, by_kind in found.scores.items():
        for kind, scores in by_kind.items():
            coverage = scores.coverage or (None,) * len(INTERVALS)
            yield (
                instant,
                kind,
                scores.jobs,
                100 * scores.within_minute,
                100 * scores.within_ten_minutes,
                scores.mean_absolute_error,
                scores.median_absolute_error,
                scores.crps,
                *(None if share is None else 100 * share for share in coverage),
            )


def evaluation_content(found: Evaluation) -> dict[str, Any]:
    """Return an evaluation as content for JSON; times in seconds, shares from 0 to 1."""
    return {
        "jobs": found.jobs,
        "waited": found.waited,
        "intervals": list(INTERVALS),
        "scores": {
            instant: {kind: scores._asdict() for kind, scores in by_kind.items()}
            for instant, by_kind in found.scores.items()
        },
    }


MOST = 60
"""Number of jobs that are drawn, the first ones in order of submission."""
_ROW = 12


def forecast_figure(found: Forecast, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of a forecast."""
    shown = found.jobs[:MOST]
    latest = max((job.starts[-1] for job in shown), default=found.now)
    unit, name = time_unit(latest - found.now)
    names = ["supposed" if job.job_id is None else str(job.job_id) for job in shown]
    count = len(found.quantiles)
    bands = []
    shades: dict[str, str] = {}
    # From the outermost pair of quantiles inwards, so that inner ones are on top.
    for depth in range(count // 2):
        low, high = depth, count - 1 - depth
        interval = f"{100 * (found.quantiles[high] - found.quantiles[low]):g} %"
        shades[interval] = lighter(PALETTE["blue"], 0.75 - 0.5 * depth / max(count // 2 - 1, 1))
        bands += rows(
            job=names,
            begin=[(job.starts[low] - found.now) / unit for job in shown],
            end=[(job.starts[high] - found.now) / unit for job in shown],
            interval=interval,
        )
    middle = rows(job=names, begin=[(job.starts[count // 2] - found.now) / unit for job in shown])
    y = alt.Y("job:N", sort=names, axis=alt.Axis(title="job", grid=False))
    x = alt.X("begin:Q", axis=alt.Axis(title=f"{name} until the start"), scale=alt.Scale(zero=True))
    chart = layers(
        chart_of(bands)
        .mark_bar(height={"band": 0.8})
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            color=alt.Color(
                "interval:N",
                scale=alt.Scale(domain=list(shades), range=list(shades.values())),
                legend=alt.Legend(title="start within, line: median", symbolType="square"),
            ),
            tooltip=["job:N", "interval:N", "begin:Q", "end:Q"],
        ),
        chart_of(middle).mark_tick(color=INK, thickness=1.5).encode(x=x, y=y),
    )
    caption = (
        "Bands: central intervals of the start; line: the median."
        + (f" The first {MOST} of {len(found.jobs)} jobs." if len(found.jobs) > MOST else "")
    )  # fmt: skip
    size = plot_width(width), _ROW * max(len(shown), 3)
    return Figure("forecast", "Forecast of start times", caption, sized(chart, size))


class ForecastProgress:
    """Progress bar over futures, shown only if standard error is a terminal.

    Parameters
    ----------
    futures
        Number of futures; None until it is known.
    """

    def __init__(self, futures: int | None = None) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._futures = futures
        self._task = self._progress.add_task("replaying up to the forecast", total=None)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        self._progress.stop()

    def __call__(self, ended: int, futures: int | None = None) -> None:
        """Show how many futures have ended.

        Parameters
        ----------
        futures
            Number of all; None: as given at first.
        """
        total = self._futures if futures is None else futures
        description = f"futures: {ended} of {total}"
        self._progress.update(self._task, completed=ended, total=total, description=description)
