"""Metrics with their confidence intervals, and their figure as bars."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import Interval, mean_interval
from hpcsched.report.compared_study import MEANS, QUANTITIES, ComparedStudy, by_submission
from hpcsched.report.figures.chart_parts import (
    Chart,
    Figure,
    chart_of,
    configuration_rows,
    fills,
    layers,
    panels,
    row_size,
    rows,
    sized,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.run_comparison import shared_objective
from hpcsched.report.tables.study_tables import HIGHER_IS_BETTER

OBJECTIVE = "objective"
"""Name of the objective of the runs, which need not be among their metrics."""
_DEFAULT = "mean_bounded_slowdown"
_SYMBOLS = {"tau": "τ", "alpha": "α"}
_CAPTION = (
    "Whiskers: 95 % intervals, over seeds where there are several, else over jobs for metrics that"
    " are means over jobs; none otherwise."
)


class _Figure(NamedTuple):
    """A metric or the objective of a run: its name, value, parameters and unit."""

    name: str
    value: float | None
    parameters: Mapping[str, Any]
    unit: str


def _figure(one: StudiedRun, metric: str) -> _Figure:
    summary = one.run.summary
    objective = summary.get("objective", {})
    name = objective.get("name", metric) if metric == OBJECTIVE else metric
    about = summary.get("definitions", {}).get(name, {})
    if metric == OBJECTIVE:
        value, parameters = objective.get("value"), objective.get("parameters", {})
    else:
        value, parameters = summary["metrics"].get(metric), about.get("parameters", {})
    return _Figure(name, value, parameters, about.get("unit", ""))


def metric_intervals(compared: ComparedStudy, metric: str) -> Mapping[tuple[str, str], Interval]:
    """Return the mean of a metric over seeds with its interval, by configuration and trace."""
    runs: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
    for one in compared.study.runs:
        if _figure(one, metric).value is not None:
            runs[one.configuration, one.group].append(one)
    found: dict[tuple[str, str], Interval] = {}
    for case, own in runs.items():
        interval = mean_interval(np.array([_figure(one, metric).value for one in own]), block=1)
        name, _, parameters, _ = _figure(own[0], metric)
        # A single seed has no spread of its own, but its jobs have.
        if len(own) == 1 and name in MEANS:
            jobs = compared.jobs[own[0].name]
            # An objective may have another bound than the metric.
            jobs = jobs._replace(tau=parameters.get("tau", jobs.tau))
            # Blocks of the bootstrap are neighbours in time.
            jobs = jobs.only(by_submission(jobs))
            interval = mean_interval(QUANTITIES[MEANS[name]].values(jobs))
        if interval is not None:
            found[case] = interval
    return found


def metric_title(compared: ComparedStudy, metric: str) -> str:
    """Return the label of the axis of a metric or the objective: name, parameters and unit."""
    found = [_figure(one, metric) for one in compared.study.runs]
    # A run that did not ask for the metric lacks its definition.
    about = next((one for one in found if one.parameters or one.unit), found[0])
    name = about.name.replace("_", " ").replace("p2sf", "P²SF")
    shown = ", ".join(
        f"{_SYMBOLS.get(key, key)} = {value:g}" + (" s" if key == "tau" else "")
        for key, value in about.parameters.items()
    )
    return name + (f" ({shown})" if shown else "") + (f" [{about.unit}]" if about.unit else "")


def metric_figure(
    compared: ComparedStudy, metric: str | None = None, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of a metric as bars with intervals, the best of the first trace first.

    Parameters
    ----------
    metric
        Name in `summary.json`, or `objective`; None is the objective that all runs have, else the
        mean bounded slowdown.
    """
    runs, groups = compared.study.runs, compared.study.groups
    if metric is not None and all(_figure(one, metric).value is None for one in runs):
        there = sorted({name for one in runs for name in one.run.summary["metrics"]})
        message = f"no run has a value of {metric!r}; there are: {', '.join(there)}"
        raise InputError(Finding("unknown-metric", message))
    if metric is None:
        shared = shared_objective([one.run for one in runs])
        known = any(_figure(one, OBJECTIVE).value is not None for one in runs)
        metric = OBJECTIVE if shared is not None and known else _DEFAULT
    found, drawn = metric_intervals(compared, metric), configuration_looks(compared)
    sign = -1 if metric in HIGHER_IS_BETTER else 1
    values = {one: sign * own.mean for (one, group), own in found.items() if group == groups[0]}
    order = sorted(drawn, key=lambda one: values.get(one, np.inf))
    drawn = {one: drawn[one] for one in order}
    chart = bars(found, groups, drawn, metric_title(compared, metric), width)
    return Figure("metrics", "Metrics", _CAPTION, chart)


def bars(
    found: Mapping[tuple[str, str], Interval],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    width: int,
) -> Chart:
    """Return the chart of bars with their values and intervals, a panel for each group.

    Parameters
    ----------
    found
        Mean and interval by configuration and group; an interval without width is not drawn.
    """
    charts: list[Chart] = []
    for group in groups:
        data = [
            row
            for configuration in drawn
            if (interval := found.get((configuration, group))) is not None
            for row in rows(
                configuration=configuration,
                mean=interval.mean,
                # Percentiles of resampled means need not contain the mean.
                lower=min(interval.lower, interval.mean),
                upper=max(interval.upper, interval.mean),
                shown=_number_text(interval.mean),
            )
        ]
        base = chart_of(data).encode(
            y=configuration_rows(drawn),
            tooltip=["configuration:N", "mean:Q", "lower:Q", "upper:Q"],
        )
        # Not filtered: a scale would complain of a layer without data.
        wide = base.encode(
            opacity=alt.condition("datum.lower < datum.upper", alt.value(1), alt.value(0))
        )
        heading = title if group == groups[-1] else None
        x = alt.X("mean:Q", axis=alt.Axis(title=heading), scale=alt.Scale(zero=True))
        panel = layers(
            base.mark_bar(stroke=INK, strokeWidth=0.5, height={"band": 1}).encode(
                x=x, color=fills(drawn)
            ),
            wide.mark_rule(strokeWidth=0.9).encode(x=alt.X("lower:Q"), x2="upper:Q"),
            wide.mark_tick(color=INK, thickness=0.9, size=5).encode(x=alt.X("lower:Q")),
            wide.mark_tick(color=INK, thickness=0.9, size=5).encode(x=alt.X("upper:Q")),
            base.mark_text(align="left", dx=4).encode(x=alt.X("upper:Q"), text="shown:N"),
        )
        charts.append(sized(panel, row_size(drawn, width), group))
    chart = panels(charts, columns=1)
    # Bars of several traces can be compared only on one scale.
    return chart.resolve_scale(x="shared") if isinstance(chart, alt.ConcatChart) else chart


def _number_text(value: float) -> str:
    """Return a number for people: four significant digits, or all of them before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
