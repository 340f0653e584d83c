"""Figures of runs for papers: boxes, distribution functions, bars, time series, decision times."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import Interval, mean_interval
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric_tables import whole_column
from hpcsched.metrics.over_time import binned
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.boxes import box_of, draw_box
from hpcsched.report.figures.decision_times import by_queue_length, decision_times
from hpcsched.report.figures.figure_style import INK, Look, looks
from hpcsched.report.figures.load_series import load_series
from hpcsched.report.tables.job_times import QUANTITIES, by_submission

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[["Figure"], None]

SPANS = 400
"""Number of spans over which a time series is averaged; more could not be told apart."""
DOTS_A_RUN = 2000
"""Number of rounds of each run drawn as dots; more would cover each other."""
QUEUE_SIZE = "queue_size"
"""Queue length before a round: a value of each round, not of each job."""
MEANS = {
    "mean_wait_time": "wait_time",
    "mean_response_time": "response_time",
    "mean_slowdown": "slowdown",
    "mean_bounded_slowdown": "bounded_slowdown",
}
"""Metrics that are means over jobs, with their quantities."""

DAY = 86_400
"""Seconds of a day."""
WIDTH = 7.2
"""The width of figures, in inches."""
_LINE = 0.17
"""The height of a line of a legend, in inches."""


def title_of(compared: ComparedStudy, quantity: str) -> str:
    """Return the label of the axis of a quantity: title, bound and unit.

    Parameters
    ----------
    compared
        The runs, from which the bound `tau` is read.
    quantity
        Name in `QUANTITIES`, or the queue length.
    """
    if quantity == QUEUE_SIZE:
        return "jobs in the queue before a round"
    about = QUANTITIES[quantity]
    bound = ""
    if quantity == "bounded_slowdown":
        taus = sorted({jobs.tau for jobs in compared.jobs.values()})
        bound = f", tau = {', '.join(map(str, taus))} s"
    return f"{about.title}{bound}" + (f" [{about.unit}]" if about.unit else "")


def draw_boxes(compared: ComparedStudy, quantity: str) -> Draw:
    """Return the drawing of a box for each contender and trace, on a logarithmic scale.

    Parameters
    ----------
    compared
        The runs.
    quantity
        Name in `QUANTITIES`, or the queue length.
    """
    values = pooled(compared, quantity)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        figure.set_size_inches(WIDTH, 3.2)
        axes = figure.add_subplot()
        step = 0.8 / len(drawn)
        named: dict[str, Any] = {}
        for k, group in enumerate(groups):
            for m, (contender, look) in enumerate(drawn.items()):
                if len(values.get((contender, group), ())):
                    at = k + step * (m - (len(drawn) - 1) / 2)
                    box = box_of(values[contender, group])
                    patch = draw_box(
                        axes, box, at, 0.8 * step, colour=look.colour, hatch=look.hatch
                    )
                    named.setdefault(contender, patch)
        _logarithmic(axes.set_yscale, values.values())
        axes.set_xticks(range(len(groups)), list(groups))
        axes.set_xlim(-0.55, len(groups) - 0.45)
        axes.set_ylabel(title_of(compared, quantity))
        axes.grid(True, axis="y")
        legend(figure, list(named), list(named.values()))

    return draw


def draw_shares(compared: ComparedStudy, quantity: str) -> Draw:
    """Return the drawing of the distribution function of a quantity, with a panel for each trace.

    Parameters
    ----------
    compared
        The runs.
    quantity
        Name in `QUANTITIES`, or the queue length.
    """
    values = pooled(compared, quantity)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        panels = _panels(figure, len(groups))
        for axes, group in zip(panels, groups, strict=True):
            for contender, look in drawn.items():
                own = values.get((contender, group))
                if own is None or not len(own):
                    continue
                steps, counts = np.unique(own, return_counts=True)
                axes.plot(
                    # The curve begins at 0 % at the least value, not in mid-air.
                    np.concatenate((steps[:1], steps)),
                    np.concatenate(([0.0], 100 * np.cumsum(counts) / len(own))),
                    color=look.colour, linestyle=look.line, linewidth=1.4, label=contender,
                    drawstyle="steps-post",
                )  # fmt: skip
            _logarithmic(axes.set_xscale, [own for (_, g), own in values.items() if g == group])
            axes.set_ylim(0, 101)
            axes.set_title(group, fontsize=9)
            axes.set_xlabel(title_of(compared, quantity))
            axes.grid(True)
        panels[0].set_ylabel(f"{'rounds' if quantity == QUEUE_SIZE else 'jobs'} up to it [%]")
        legend(figure)

    return draw


def draw_bars(compared: ComparedStudy, metric: str) -> Draw:
    """Return the drawing of a metric as bars with intervals, as in `bars_of`.

    Raises
    ------
    InputError
        No run has the metric.
    """
    found = bars_of(compared, metric)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        figure.set_size_inches(WIDTH, 3.2)
        axes = figure.add_subplot()
        step = 0.8 / len(drawn)
        for m, (contender, look) in enumerate(drawn.items()):
            there = [
                (k, found[contender, g]) for k, g in enumerate(groups) if (contender, g) in found
            ]
            places = [k + step * (m - (len(drawn) - 1) / 2) for k, _ in there]
            means = [interval.mean for _, interval in there]
            axes.bar(
                places, means, 0.9 * step, color=look.colour, hatch=look.hatch, edgecolor=INK,
                linewidth=0.5, label=contender,
            )  # fmt: skip
            # Without any spread an error bar would be a line across the top of its bar.
            if any(interval.lower < interval.upper for _, interval in there):
                # Percentiles of resampled means need not contain the mean: negative lengths
                # are errors for Matplotlib.
                below = [interval.mean - interval.lower for _, interval in there]
                above = [interval.upper - interval.mean for _, interval in there]
                axes.errorbar(
                    places, means, np.maximum([below, above], 0), fmt="none", ecolor=INK,
                    elinewidth=0.8, capsize=2,
                )  # fmt: skip
        axes.set_xticks(range(len(groups)), list(groups))
        axes.set_xlim(-0.55, len(groups) - 0.45)
        axes.set_ylabel(metric_title(compared, metric))
        axes.grid(True, axis="y")
        axes.set_axisbelow(True)
        legend(figure)

    return draw


def bars_of(compared: ComparedStudy, metric: str) -> Mapping[tuple[str, str], Interval]:
    """Return the mean of a metric over seeds with its interval, by contender and trace.

    Parameters
    ----------
    compared
        The runs.
    metric
        Name in `summary.json`.

    Returns
    -------
    Mapping
        The interval of a single run is over its jobs if the metric is their mean; else it has no
        width.

    Raises
    ------
    InputError
        No run has the metric.
    """
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in compared.study.runs:
        value = one.run.summary["metrics"].get(metric)
        if value is not None:
            values[one.contender, one.group].append(float(value))
    if not values:
        there = sorted({name for one in compared.study.runs for name in one.run.summary["metrics"]})
        message = f"no run has a value of {metric!r}; there are: {', '.join(there)}"
        raise InputError(Finding("unknown-metric", message))
    found: dict[tuple[str, str], Interval] = {}
    for one in compared.study.runs:
        own = values[one.contender, one.group]
        interval = mean_interval(np.array(own), block=1)
        # A single seed has no spread of its own, but its jobs have.
        if len(own) == 1 and metric in MEANS:
            jobs = compared.jobs[one.name]
            # Blocks of the bootstrap are neighbours in time.
            jobs = jobs.only(by_submission(jobs))
            interval = mean_interval(QUANTITIES[MEANS[metric]].values(jobs))
        if interval is not None:
            found[one.contender, one.group] = interval
    return found


def metric_title(compared: ComparedStudy, metric: str) -> str:
    """Return the label of the axis of a metric: name, parameters and unit."""
    for one in compared.study.runs:
        definition = one.run.summary.get("definitions", {}).get(metric)
        if definition is not None:
            parameters = ", ".join(f"{k} = {v}" for k, v in definition["parameters"].items())
            unit = f" [{definition['unit']}]" if definition["unit"] else ""
            return f"{metric} ({parameters}){unit}" if parameters else f"{metric}{unit}"
    return metric


def draw_load(compared: ComparedStudy, resource: str | None) -> Draw:
    """Return the drawing of the load over time, by trace, as in `load_series`.

    A grey line shows the offered amount of a shared resource.

    Raises
    ------
    InputError
        No system has the resource type.
    """
    panels = load_series(compared, resource)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        figure.set_size_inches(WIDTH, 1.0 + 1.4 * len(panels) * len(groups))
        rows = figure.subplots(len(panels) * len(groups), 1, squeeze=False)[:, 0]
        for k, group in enumerate(groups):
            of_group = rows[len(panels) * k : len(panels) * (k + 1)]
            for axes, panel in zip(of_group, panels, strict=True):
                # The capacity of a shared resource is that of the trace's system: one line will do.
                limit = next((c for case, c in panel.limits.items() if case[1] == group), None)
                if limit is not None:
                    edges, means, _ = binned(limit, SPANS)
                    axes.stairs(means, edges / DAY, baseline=None, color="0.6", linewidth=1.2)
                for contender, look in drawn.items():
                    if (contender, group) in panel.series:
                        edges, means, _ = binned(panel.series[contender, group], SPANS)
                        axes.stairs(
                            means, edges / DAY, baseline=None, color=look.colour,
                            linestyle=look.line, linewidth=0.9, label=contender,
                        )  # fmt: skip
                axes.set_ylim(bottom=0)
                axes.set_ylabel(panel.axis)
                axes.grid(True)
                axes.set_axisbelow(True)
            of_group[0].set_title(group, fontsize=9)
            of_group[-1].set_xlabel("days since the trace's origin")
        legend(figure)

    return draw


def draw_decision_times(compared: ComparedStudy) -> Draw:
    """Return the drawing of the decision times by queue length, with a line of medians."""

    def draw(figure: "Figure") -> None:
        figure.set_size_inches(WIDTH, 3.4)
        axes = figure.add_subplot()
        drawn = run_looks(compared)
        for one in compared.study.runs:
            look = drawn[one.name]
            queued, seconds = decision_times(one)
            # Every n-th round, so that the same ones are drawn each time.
            some = slice(None, None, -(-len(queued) // DOTS_A_RUN) or 1)
            axes.scatter(
                np.maximum(queued[some], 1), seconds[some], s=3, color=look.colour, alpha=0.25,
                linewidths=0, rasterized=True,
            )  # fmt: skip
            bins = list(by_queue_length(one))
            # Geometric middle of the bin, as the axis is logarithmic.
            middle = [np.sqrt(max(b.queue_from, 1) * max(b.queue_to, 1)) for b in bins]
            axes.plot(
                middle, [b.p50 for b in bins], color=look.colour, linestyle=look.line,
                marker="o", markersize=3.5, markeredgecolor="white", markeredgewidth=0.5,
                linewidth=1.6, label=one.name,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("jobs in the queue before the round (none counts as one)")
        axes.set_ylabel("decision time [real s]")
        axes.set_title("dots: rounds; lines: medians by queue length", fontsize=8)
        axes.grid(True)
        legend(figure)

    return draw


def pooled(compared: ComparedStudy, quantity: str) -> Mapping[tuple[str, str], FloatColumn]:
    """Return the values of all jobs by contender and trace, of all seeds together.

    Parameters
    ----------
    compared
        The runs.
    quantity
        Name in `QUANTITIES`; or the queue length, which has a value for each round.
    """
    parts: dict[tuple[str, str], list[FloatColumn]] = defaultdict(list)
    for one in compared.study.runs:
        if quantity == QUEUE_SIZE:
            own = whole_column(one.run.rounds, "queued").astype(np.float64)
        else:
            own = QUANTITIES[quantity].values(compared.jobs[one.name])
        parts[one.contender, one.group].append(own)
    return {key: np.concatenate(part) for key, part in parts.items()}


def contender_looks(compared: ComparedStudy) -> dict[str, Look]:
    """Return the look of each contender."""
    dispatchers: dict[str, str] = {}
    for one in compared.study.runs:
        dispatchers.setdefault(one.contender, one.dispatcher)
    return looks(dispatchers)


def run_looks(compared: ComparedStudy) -> dict[str, Look]:
    """Return the look of each run, which is its contender's look."""
    drawn = contender_looks(compared)
    return {one.name: drawn[one.contender] for one in compared.study.runs}


def _panels(figure: "Figure", count: int) -> Sequence["Axes"]:
    """Return panels side by side, three in a row at most."""
    columns = min(count, 3)
    rows = -(-count // columns)
    figure.set_size_inches(WIDTH if count > 1 else 5.0, 0.6 + 2.8 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for unused in panels[count:]:
        unused.set_axis_off()
    return list(panels[:count])


def _logarithmic(set_scale: Callable[..., None], values: Iterable[FloatColumn]) -> None:
    """Set a logarithmic scale, which is linear below 1 where there are values of 0."""
    parts = [part for part in values if len(part)]
    if any(part.min() <= 0 for part in parts):
        set_scale("symlog", linthresh=1)
    elif parts:
        set_scale("log")


def legend(figure: "Figure", names: Sequence[str] = (), patches: Sequence[Any] = ()) -> None:
    """Put a legend below all panels, with each name once.

    Parameters
    ----------
    figure
        The figure.
    names, patches
        Names and handles; empty: those of the panels.
    """
    if not names:
        found: dict[str, Any] = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        names, patches = list(found), list(found.values())
    columns = max(1, min(5, 100 // (max(map(len, names), default=1) + 8)))
    # The legend's lines are added to the figure, or they would be taken from the panels.
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + _LINE * -(-len(names) // columns))
    figure.legend(
        list(patches), list(names), loc="outside lower center", ncols=columns, frameon=False,
        fontsize=7,
    )  # fmt: skip
