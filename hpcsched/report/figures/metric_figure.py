"""The figure of metrics as bars with confidence intervals."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import Figure, plot_width
from hpcsched.report.figures.common_charts import bar_layers, bar_rows, bars
from hpcsched.report.figures.figure_style import PAPER_WIDTH, contender_looks
from hpcsched.report.figures.metric_intervals import metric_intervals, metric_title

_CAPTION = (
    "Whiskers: 95 % intervals, over seeds where there are several, else over jobs for metrics that"
    " are means over jobs; none otherwise."
)


def metric_figure(compared: ComparedStudy, metric: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of a metric as bars with intervals, as in `metric_intervals`.

    Parameters
    ----------
    compared
        The runs.
    metric
        Name in `summary.json`.
    width
        Width, in points.

    Raises
    ------
    InputError
        No run has the metric.
    """
    found, title = metric_intervals(compared, metric), metric_title(compared, metric)
    chart = bars(found, compared.study.groups, contender_looks(compared), title, _size(width))
    return Figure("metrics", "Metrics", _CAPTION, chart)


def metric_choice_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of all metrics, of which the reader chooses one at a time.

    Parameters
    ----------
    compared
        The runs.
    width
        Width, in points.
    """
    titles = {name: metric_title(compared, name) for name in metrics_of(compared)}
    data: list[dict[str, Any]] = []
    for metric, title in titles.items():
        for (contender, group), interval in metric_intervals(compared, metric).items():
            data += bar_rows(contender, group, interval, metric=title)
    drawn = contender_looks(compared)
    chart = bar_layers(data, compared.study.groups, drawn, None, _size(width))
    if titles:
        choice = alt.param(
            name="metric",
            value=next(iter(titles.values())),
            bind=alt.binding_select(options=list(titles.values()), name="Metric: "),
        )
        # Vega-Lite evaluates the expression at each choice.
        heading = alt.Title(alt.expr("metric"), anchor="start")
        chart = chart.add_params(choice).properties(title=heading)
        for layer in chart.layer:
            first = alt.FilterTransform(filter="datum.metric == metric")
            later = layer.transform if isinstance(layer.transform, Sequence) else []
            layer.transform = [first, *later]
    return Figure("metrics", "Metrics", f"Choose a metric above the figure. {_CAPTION}", chart)


def metrics_of(compared: ComparedStudy) -> list[str]:
    """Return the names of the metrics that a run has a value of, in the order of the summaries."""
    return list(
        dict.fromkeys(
            name
            for one in compared.study.runs
            for name, value in one.run.summary["metrics"].items()
            if value is not None
        )
    )


def _size(width: int) -> tuple[int, int]:
    return plot_width(width), round(0.37 * width)
