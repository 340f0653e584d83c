"""Metrics of a comparison with their confidence intervals, by configuration and trace."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.bootstrap import Interval, mean_interval
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.job_times import QUANTITIES, by_submission
from hpcsched.report.tables.run_comparison import shared_objective

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
    """Return the mean of a metric over seeds with its interval, by configuration and trace.

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
    # Runs of older versions may lack the definition of a metric.
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
