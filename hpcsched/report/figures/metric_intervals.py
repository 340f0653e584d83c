"""Metrics of a comparison with their confidence intervals, by contender and trace."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import Interval, mean_interval
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.tables.job_times import QUANTITIES, by_submission

MEANS = {
    "mean_wait_time": "wait_time",
    "mean_response_time": "response_time",
    "mean_slowdown": "slowdown",
    "mean_bounded_slowdown": "bounded_slowdown",
}
"""Metrics that are means over jobs, with their quantities."""
_SYMBOLS = {"tau": "τ", "alpha": "α"}


def metric_intervals(compared: ComparedStudy, metric: str) -> Mapping[tuple[str, str], Interval]:
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
    """Return the label of the axis of a metric: name, parameters and unit.

    A duration among the parameters has its unit.
    """
    name = metric.replace("_", " ").replace("p2sf", "P²SF")
    for one in compared.study.runs:
        definition = one.run.summary.get("definitions", {}).get(metric)
        if definition is not None:
            shown = [_parameter(*item) for item in definition["parameters"].items()]
            unit = f" [{definition['unit']}]" if definition["unit"] else ""
            return f"{name} ({', '.join(shown)}){unit}" if shown else f"{name}{unit}"
    return name


def _parameter(name: str, value: object) -> str:
    # The bound of the bounded slowdown is the only duration among parameters of metrics.
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{_SYMBOLS.get(name, name)} = {shown}" + (" s" if name == "tau" else "")
