"""The figure of metrics as bars with confidence intervals."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from hpcsched.metrics.bootstrap import Interval
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import Figure
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.figures.metric_intervals import (
    OBJECTIVE,
    default_metric,
    metric_intervals,
    metric_title,
)
from hpcsched.report.figures.row_charts import bar_panels, bar_rows, bars
from hpcsched.report.tables.metric_tables import HIGHER_IS_BETTER

_CAPTION = (
    "Whiskers: 95 % intervals, over seeds where there are several, else over jobs for metrics that"
    " are means over jobs; none otherwise."
)


def metric_figure(
    compared: ComparedStudy, metric: str | None = None, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of a metric as bars with intervals, as in `metric_intervals`.

    Parameters
    ----------
    metric
        Name in `summary.json`, or `objective`; None is the objective that all runs have, else the
        mean bounded slowdown.

    Raises
    ------
    InputError
        No run has the metric.
    """
    metric = metric or default_metric(compared)
    found, title = metric_intervals(compared, metric), metric_title(compared, metric)
    drawn = _best_above(compared, metric, found)
    chart = bars(found, compared.study.groups, drawn, title, width)
    return Figure("metrics", "Metrics", _CAPTION, chart)


def _best_above(
    compared: ComparedStudy, metric: str, found: Mapping[tuple[str, str], Interval]
) -> dict[str, Look]:
    """Return the looks of configurations, the best of the first trace first."""
    drawn, first = configuration_looks(compared), compared.study.groups[0]
    sign = -1 if metric in HIGHER_IS_BETTER else 1
    values = {one: sign * own.mean for (one, group), own in found.items() if group == first}
    order = sorted(drawn, key=lambda one: values.get(one, float("inf")))
    return {one: drawn[one] for one in order}


def metric_choice_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of all metrics, of which the reader chooses one at a time.

    The first one is the objective, and the configurations are in its order.
    """
    titles = {name: metric_title(compared, name) for name in metrics_of(compared)}
    data: list[dict[str, Any]] = []
    for metric, title in titles.items():
        for (configuration, group), interval in metric_intervals(compared, metric).items():
            data += bar_rows(configuration, group, interval, metric=title)
    first = default_metric(compared)
    drawn = configuration_looks(compared)
    if first in (OBJECTIVE, *titles):
        drawn = _best_above(compared, first, metric_intervals(compared, first))
    chart = bar_panels(
        data, compared.study.groups, drawn, None, width, only="datum.metric == metric"
    )
    listed = list(titles.values())
    if listed:
        choice = alt.param(
            name="metric",
            value=shown if (shown := metric_title(compared, first)) in listed else listed[0],
            bind=alt.binding_select(options=listed, name="Metric: "),
        )
        # Vega-Lite evaluates the expression at each choice.
        heading = alt.Title(alt.expr("metric"), anchor="start")
        chart = chart.add_params(choice).properties(title=heading)
    return Figure("metrics", "Metrics", f"Choose a metric below the figure. {_CAPTION}", chart)


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
