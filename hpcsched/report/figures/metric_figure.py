"""Metrics with their confidence intervals, and their figures as bars."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import Interval, mean_interval
from hpcsched.report.compared_study import QUANTITIES, ComparedStudy, by_submission
from hpcsched.report.figures.chart_parts import Figure
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.figures.row_charts import bar_panels, bar_rows, bars
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.run_comparison import shared_objective
from hpcsched.report.tables.study_tables import HIGHER_IS_BETTER

MEANS = {
    "mean_wait_time": "wait_time",
    "mean_response_time": "response_time",
    "mean_slowdown": "slowdown",
    "mean_bounded_slowdown": "bounded_slowdown",
}
"""Metrics that are means over jobs, with their quantities."""
OBJECTIVE = "objective"
"""Name of the objective of the runs, which need not be among their metrics."""
_DEFAULT = "mean_bounded_slowdown"
_SYMBOLS = {"tau": "τ", "alpha": "α"}


def metric_intervals(compared: ComparedStudy, metric: str) -> Mapping[tuple[str, str], Interval]:
    """Return the mean of a metric over seeds with its interval, by configuration and trace."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in compared.study.runs:
        value = _figure(one, metric).value
        if value is not None:
            values[one.configuration, one.group].append(float(value))
    if not values:
        there = sorted({name for one in compared.study.runs for name in one.run.summary["metrics"]})
        message = f"no run has a value of {metric!r}; there are: {', '.join(there)}"
        raise InputError(Finding("unknown-metric", message))
    found: dict[tuple[str, str], Interval] = {}
    for one in compared.study.runs:
        own = values[one.configuration, one.group]
        interval = mean_interval(np.array(own), block=1)
        # A single seed has no spread of its own, but its jobs have.
        name, _, parameters, _ = _figure(one, metric)
        if len(own) == 1 and name in MEANS:
            jobs = compared.jobs[one.name]
            # An objective may have another bound than the metric.
            jobs = jobs._replace(tau=parameters.get("tau", jobs.tau))
            # Blocks of the bootstrap are neighbours in time.
            jobs = jobs.only(by_submission(jobs))
            interval = mean_interval(QUANTITIES[MEANS[name]].values(jobs))
        if interval is not None:
            found[one.configuration, one.group] = interval
    return found


def metric_title(compared: ComparedStudy, metric: str) -> str:
    """Return the label of the axis of a metric or the objective: name, parameters and unit.

    A duration among the parameters has its unit.
    """
    found = [_figure(one, metric) for one in compared.study.runs]
    # A run that did not ask for the metric lacks its definition.
    about = next((one for one in found if one.parameters or one.unit), found[0])
    name = about.name.replace("_", " ").replace("p2sf", "P²SF")
    shown = ", ".join(_parameter(*item) for item in about.parameters.items())
    return name + (f" ({shown})" if shown else "") + (f" [{about.unit}]" if about.unit else "")


def default_metric(compared: ComparedStudy) -> str:
    """Return `OBJECTIVE` if the runs have the same one with a value, else a metric."""
    shared = shared_objective([one.run for one in compared.study.runs])
    known = any(_figure(one, OBJECTIVE).value is not None for one in compared.study.runs)
    return OBJECTIVE if shared is not None and known else _DEFAULT


class _Figure(NamedTuple):
    """A metric or the objective of a run: its name, value, parameters and unit."""

    name: str
    value: float | None
    parameters: Mapping[str, Any]
    unit: str


def _figure(one: StudiedRun, metric: str) -> _Figure:
    summary = one.run.summary
    definitions = summary.get("definitions", {})
    if metric == OBJECTIVE:
        objective = summary.get("objective", {})
        name = objective.get("name", metric)
        value, parameters = objective.get("value"), objective.get("parameters", {})
    else:
        name, value = metric, summary["metrics"].get(metric)
        parameters = definitions.get(name, {}).get("parameters", {})
    return _Figure(name, value, parameters, definitions.get(name, {}).get("unit", ""))


def _parameter(name: str, value: object) -> str:
    # The bound of the bounded slowdown is the only duration among parameters of metrics.
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{_SYMBOLS.get(name, name)} = {shown}" + (" s" if name == "tau" else "")


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
