"""The figure of a forecast: for each job a band of its start times, darker towards the median."""

import altair as alt

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
from hpcsched.studies.forecast.forecasting import Forecast

MOST = 60
"""Number of jobs that are drawn, the first ones in order of submission."""
_ROW = 12


def forecast_figure(found: Forecast, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of a forecast.

    Parameters
    ----------
    found
        The forecast.
    width
        Width, in points.
    """
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
