"""The figures of runs: distributions, metrics, load over time, decision times."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.capacity import OverTime, binned
from hpcsched.metrics.column_sums import FloatColumn, Interval, mean_interval, mean_of
from hpcsched.metrics.metric import whole_column
from hpcsched.report.compared_study import (
    MEANS,
    QUANTITIES,
    ComparedStudy,
    by_submission,
    decision_times,
    load_series,
    percentiles,
)
from hpcsched.report.figures.chart_parts import (
    BESIDE,
    INK,
    PAPER_WIDTH,
    STEPS,
    Chart,
    Figure,
    Look,
    TimeAxis,
    axis_of_trace,
    chart_of,
    colours,
    configuration_looks,
    configuration_rows,
    dashes,
    fills,
    layers,
    panels,
    plot_width,
    row_size,
    rows,
    sized,
    stepped_lines,
    time_axis,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.gantt_figure import gantt_figure
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.run_comparison import shared_objective
from hpcsched.report.tables.study_tables import HIGHER_IS_BETTER

BOUNDED = "bounded_slowdown"
"""The quantity that is drawn by default."""
QUEUE_SIZE = "queue_size"
"""Queue length before a round: a value of each round, not of each job."""
_SCALE = "The scale is logarithmic, and linear below 1 where there are values of 0."
_PERCENTS = {"least": 0, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p99": 99, "largest": 100}
_MARKS = {
    "p50": "M-0.2,-1.4h0.4v2.8h-0.4z",
    "p90": "circle",
    "p99": "diamond",
    "mean": "triangle-up",
}
"""Shapes of the percentiles and the mean; the median is an upright stroke."""


def quantity_title(compared: ComparedStudy, quantity: str) -> str:
    """Return the label of the axis of a quantity: title, bound and unit."""
    if quantity == QUEUE_SIZE:
        return "jobs in the queue before a round"
    about = QUANTITIES[quantity]
    if quantity == BOUNDED:
        taus = sorted({jobs.tau for jobs in compared.jobs.values()})
        return f"{about.title}, τ = {', '.join(map(str, taus))} s"
    return f"{about.title} [{about.unit}]" if about.unit else about.title


def quantity_values(
    compared: ComparedStudy, quantity: str
) -> Mapping[tuple[str, str], FloatColumn]:
    """Return the values of all jobs by configuration and trace, of all seeds together."""

    def values(one: StudiedRun) -> FloatColumn:
        if quantity == QUEUE_SIZE:
            return whole_column(one.run.rounds, "queued").astype(np.float64)
        return QUANTITIES[quantity].values(compared.jobs[one.name])

    cases = compared.study.cases.items()
    return {case: np.concatenate(list(map(values, runs))) for case, runs in cases}


def distribution(values: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    """Return points of a distribution function, thinned to about `STEPS` where there are many.

    The values ascend, the least twice; the percentages of all values up to each begin at 0.
    """
    occurring, counts = np.unique(values, return_counts=True)
    percent = 100 * np.cumsum(counts) / len(values)
    wanted = np.linspace(0, 100, STEPS)
    places = np.unique(np.minimum(np.searchsorted(percent, wanted), len(percent) - 1))
    places = np.unique(np.concatenate(([0], places, [len(percent) - 1])))
    # The curve begins at 0 % at the least value, not in mid-air.
    x = np.concatenate((occurring[:1], occurring[places])).astype(np.float64)
    return x, np.concatenate(([0.0], percent[places]))


def distributions(
    values: Mapping[str, FloatColumn],
    drawn: Mapping[str, Look],
    titles: tuple[str, str],
    width: int = PAPER_WIDTH,
    linear: float = 1.0,
) -> alt.Chart:
    """Return the chart of distribution functions: percentages of values up to each value."""
    data: list[dict[str, Any]] = []
    for configuration in drawn:
        if configuration in values and len(values[configuration]):
            value, percent = distribution(values[configuration])
            data += rows(configuration=configuration, value=value, percent=percent)
    scale, marks = value_scale(values.values(), linear)
    x = alt.X("value:Q", scale=scale, axis=value_axis(titles[0], marks))
    y = alt.Y("percent:Q", scale=alt.Scale(domain=[0, 101]), axis=alt.Axis(title=titles[1]))
    return stepped_lines(data, x, y, drawn, width, told=("value:Q", "percent:Q"))


def distribution_figure(
    compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of distribution functions of a quantity, with a panel for each trace."""
    values, groups = quantity_values(compared, of), compared.study.groups
    counted = f"{'rounds' if of == QUEUE_SIZE else 'jobs'} at or below [%]"
    titles, drawn = (quantity_title(compared, of), counted), configuration_looks(compared)
    size = plot_width(width, min(len(groups), BESIDE)), round(0.33 * width)
    charts = []
    for group in groups:
        own = {configuration: found for (configuration, g), found in values.items() if g == group}
        charts.append(sized(distributions(own, drawn, titles, width), size, group))
    caption = f"The percentage of values up to each value. {_SCALE}"
    return Figure(f"distribution-{of}", f"{_heading(of)}: distribution", caption, panels(charts))


def box_figure(compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of percentiles: a row for each configuration, a panel for each trace."""
    values = {case: own for case, own in quantity_values(compared, of).items() if len(own)}
    found = {
        case: dict(zip(_PERCENTS, percentiles(own, _PERCENTS.values()), strict=True))
        | {"mean": mean_of(own)}
        for case, own in values.items()
    }
    groups, drawn = compared.study.groups, configuration_looks(compared)
    # Rows are in the order of what they show, in the first trace.
    means = {one: own["mean"] for (one, group), own in found.items() if group == groups[0]}
    drawn = {one: drawn[one] for one in sorted(drawn, key=lambda one: means.get(one, np.inf))}
    scale, ticks = value_scale(np.array(list(own.values())) for own in found.values())
    charts: list[Chart] = []
    for group in groups:
        title = quantity_title(compared, of) if group == groups[-1] else ""
        own = {one: found[one, group] for one in drawn if (one, group) in found}
        panel = _spreads(own, drawn, scale, value_axis(title, ticks))
        charts.append(sized(panel, row_size(drawn, width), group))
    caption = (
        "By ascending mean. Bars reach from the 25th to the 75th percentile, and thinner to the"
        f" 90th and the 99th; the line from the least to the largest value. {_SCALE}"
    )
    chart = panels(charts, columns=1)
    return Figure(f"boxes-{of}", f"{_heading(of)}: percentiles", caption, chart)


def _spreads(
    found: Mapping[str, Mapping[str, float]],
    drawn: Mapping[str, Look],
    scale: alt.Scale,
    axis: alt.Axis,
) -> alt.LayerChart:
    """Return a panel of percentiles: lines, bars that get thinner with the tail, and marks."""
    whole = [row for one, own in found.items() for row in rows(configuration=one, **own)]
    marks = [
        row
        for one, own in found.items()
        for row in rows(configuration=one, mark=list(_MARKS), value=[own[name] for name in _MARKS])
    ]
    y = configuration_rows(drawn)
    base = chart_of(whole).encode(
        y=y, tooltip=["configuration:N", *(f"{one}:Q" for one in (*_PERCENTS, "mean"))]
    )

    def place(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    shape = alt.Shape(
        "mark:N",
        scale=alt.Scale(domain=list(_MARKS), range=list(_MARKS.values())),
        legend=alt.Legend(
            title="Bars: p25 to p75, p90 and p99; line: least to largest value",
            symbolStrokeWidth=0.9,
            symbolSize=40,
        ),
    )
    # From the back to the front: the marks must lie on the bars.
    return layers(
        base.mark_rule(strokeWidth=0.8).encode(x=place("least"), x2="largest:Q"),
        *(
            base.mark_bar(stroke=INK, strokeWidth=0.5, height={"band": band}, opacity=1).encode(
                x=place(low), x2=f"{high}:Q", color=fills(drawn)
            )
            for low, high, band in (("p90", "p99", 0.22), ("p75", "p90", 0.5), ("p25", "p75", 1))
        ),
        chart_of(marks)
        .mark_point(size=30, filled=False, fill="white", color=INK, strokeWidth=0.9, opacity=1)
        .encode(
            y=y, x=place("value"), shape=shape, tooltip=["configuration:N", "mark:N", "value:Q"]
        ),
    )


def _heading(quantity: str) -> str:
    return quantity.replace("_", " ").capitalize()


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
    found: dict[tuple[str, str], Interval] = {}
    for case, runs in compared.study.cases.items():
        own = [one for one in runs if _figure(one, metric).value is not None]
        if not own:
            continue
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

    The metric None is the objective that all runs have, else the mean bounded slowdown.
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
    """Return the chart of bars with their values and intervals, a panel for each group."""
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
                # Four significant digits, or all of them before the point.
                shown=f"{interval.mean:{',.0f' if abs(interval.mean) >= 1000 else '.4g'}}",
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


_OFFERED = Look("#999999", 0, "capacity of a shared resource")
"""Line of the offered amount of a shared resource."""
_TIME = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s'"
    " : datum.value >= 1e-3 ? format(datum.value * 1e3, '.3~g') + ' ms'"
    " : datum.value >= 1e-6 ? format(datum.value * 1e6, '.3~g') + ' µs'"
    " : format(datum.value * 1e9, '.3~g') + ' ns'"
)
"""Vega expression of a label: decision times are from some ns to minutes."""


def load_figure(
    compared: ComparedStudy, resource: str | None = None, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of the load over time, by trace; of each configuration the first seed.

    A grey line shows the offered amount of a shared resource.
    """
    # Lines by trace, title of the panel, and configuration.
    found: dict[str, dict[str, dict[str, OverTime]]] = {one: {} for one in compared.study.groups}
    drawn = configuration_looks(compared)
    for one in compared.study.runs:
        for series in load_series(one, compared.jobs[one.name], resource):
            title = f"{series.quantity.replace('_', ' ')} [{series.unit}]"
            lines = found[one.group].setdefault(title, {})
            if series.offered is not None:
                lines.setdefault("offered", series.offered)
                # In all panels, since they share the scale of colours.
                drawn["offered"] = _OFFERED
            # Lines of several seeds would hide each other, and their mean would hide peaks.
            lines.setdefault(one.configuration, series.values)
    charts: list[Chart] = []
    size = plot_width(width), round(0.16 * width)
    for group, of_group in found.items():
        for number, (title, lines) in enumerate(of_group.items()):
            time = axis_of_trace(compared, group, [line.instants for line in lines.values()])
            data = [row for name, line in lines.items() for row in _line_rows(name, line, time)]
            y = alt.Y("value:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=True))
            told = time.tooltip("time"), "value:Q"
            # The page zooms it, so that the axis is not bounded.
            x = time.x("time", bounded=False)
            chart = stepped_lines(data, x, y, drawn, width, told=told, stroke=1.1)
            charts.append(sized(chart, size, "" if number else group))
    caption = f"Means over {STEPS} spans of time; the first seed of each configuration."
    return Figure("load", "Load over time", caption, panels(charts, columns=1))


def _line_rows(configuration: str, line: OverTime, time: TimeAxis) -> list[dict[str, object]]:
    edges, means, _ = binned(line, STEPS)
    # The last value is drawn up to the end of its span.
    values = np.concatenate((means, means[-1:]))
    places = time.places(edges[: len(values)].tolist())
    return rows(configuration=configuration, time=places, value=values)


def decision_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the medians of decision times by queue length, a line for each run."""
    data, drawn = [], configuration_looks(compared)
    for one in compared.study.runs:
        bins = [own for own in decision_times(one) if own.p50 > 0]
        data += rows(
            configuration=one.configuration,
            run=one.name,
            # Geometric middle of the bin, as the axis is logarithmic.
            queued=[float(np.sqrt(max(b.queue_from, 1) * max(b.queue_to, 1))) for b in bins],
            seconds=[own.p50 for own in bins],
            p90=[own.p90 for own in bins],
            rounds=[own.rounds for own in bins],
        )
    x_scale, x_marks = value_scale([np.array([row["queued"] for row in data])])
    y_scale, y_marks = value_scale([np.array([row["seconds"] for row in data])])
    title = "jobs in the queue before the round (none counts as one)"
    times = alt.Axis(title="median decision time (wall clock)", values=y_marks, labelExpr=_TIME)
    median = chart_of(data).encode(
        x=alt.X("queued:Q", scale=x_scale, axis=value_axis(title, x_marks)),
        y=alt.Y("seconds:Q", scale=y_scale, axis=times),
        detail=["run:N", "configuration:N"],
        color=colours(drawn, width),
        tooltip=["run:N", "queued:Q", "seconds:Q", "p90:Q", "rounds:Q"],
    )
    chart = layers(
        median.mark_line(strokeWidth=1.6).encode(strokeDash=dashes(drawn, width)),
        median.mark_point(filled=True, size=18, stroke="white", strokeWidth=0.5, opacity=1),
    )
    size = plot_width(width), round(0.42 * width)
    caption = (
        "Medians by queue length, each range twice as wide as the one before it. Measured: it"
        " differs from machine to machine."
    )
    return Figure("decision-time", "Decision time by queue length", caption, sized(chart, size))


def choice_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the chosen dispatcher over time, in a panel for each run."""
    labels, charts = compared.study.run_labels, []
    for one in compared.study.runs:
        table = one.run.rounds.read("now", "chosen", "because")
        chosen = table.filter(pc.is_valid(table["chosen"])).to_pydict()
        if not chosen["now"]:
            continue
        ends = [*chosen["now"][1:], pc.max(table["now"]).as_py()]
        time = time_axis(chosen["now"][0], ends[-1], one.run.calendar)
        names = list(dict.fromkeys(chosen["chosen"]))
        begin, end = time.places(chosen["now"]), time.places(ends)
        data = rows(dispatcher=chosen["chosen"], begin=begin, end=end, because=chosen["because"])
        bars = chart_of(data).mark_bar(height={"band": 0.7})
        chart: alt.Chart = bars.encode(
            x=time.x("begin"),
            x2="end",
            y=alt.Y("dispatcher:N", sort=names, axis=alt.Axis(title=None)),
            tooltip=["dispatcher:N", time.tooltip("begin"), time.tooltip("end"), "because:N"],
        )
        charts.append(sized(chart, (plot_width(width), 16 * len(names) + 8), labels[one.name]))
    if not charts:
        message = "no run chose between dispatchers; expected one of the dispatcher hyper"
        raise InputError(Finding("nothing-chosen", message))
    caption = "The dispatcher that decided, over time."
    return Figure("choices", "Chosen dispatchers", caption, panels(charts, columns=1))


FIGURES: Mapping[str, Callable[..., Figure]] = {
    "boxes": box_figure,
    "ecdf": distribution_figure,
    "bars": metric_figure,
    "load": load_figure,
    "gantt": gantt_figure,
    "decision-time": decision_time_figure,
    "choices": choice_figure,
}
"""Function of a compared study and of options, by kind."""
