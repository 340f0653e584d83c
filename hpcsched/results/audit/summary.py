"""Checks the figures of a summary against those worked out again."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hpcsched.results.audit.columns import RunColumns
from hpcsched.results.audit.figures import Figures
from hpcsched.results.audit.violations import TOLERANCE, Check, compare
from hpcsched.system.outages import NO_OUTAGES, Outages, down_time
from hpcsched.system.system import System


class Declared(NamedTuple):
    """What a scenario declares of its figures: parameters by metric, the objective and its own."""

    metric_parameters: Mapping[str, Mapping[str, Any]]
    objective: str
    objective_parameters: Mapping[str, Any]


def check_figures(
    summary: Mapping[str, Any],
    run: RunColumns,
    system: System,
    declared: Declared,
    *,
    partial: bool,
    attempts: RunColumns | None = None,
    outages: Outages = NO_OUTAGES,
) -> Check:
    """Check every figure of a summary within a relative tolerance of 10⁻⁹.

    The loss of capacity of a partial run is not checked, since the jobs that still waited are not
    recorded; that of a run with jobs that the dispatcher rejected is checked to lie between two
    bounds. `attempts` has, beside the jobs, attempts that were lost to outages.
    """
    check = Check(f"every figure of the summary, worked out again, agrees within {TOLERANCE:g}")
    down = down_time(outages.all) if outages.all else None
    figures = Figures(run, system, attempts, down)
    parameters = declared.metric_parameters
    stated = summary["metrics"]
    for name, expected in figures.metrics(parameters).items():
        compare(check, f"metrics.{name}", expected, stated.get(name))
    known = {*figures.metrics(parameters), "loss_of_capacity"}
    for name in stated:
        if name not in known:
            check.notes.append(f"metrics.{name} is a plugin's and was not worked out again")
    for name, own in parameters.items():
        found = summary.get("definitions", {}).get(name, {}).get("parameters")
        check.expect(f"definitions.{name}.parameters", dict(own), found)

    _check_objective(check, summary.get("objective", {}), figures, declared)
    utilization = figures.utilization()
    stated_utilization = summary.get("utilization_by_resource", {})
    for name, expected in utilization.items():
        where = f"utilization_by_resource.{name}"
        compare(check, where, expected, stated_utilization.get(name))
    if partial:
        check.notes.append("loss_of_capacity was not worked out again: jobs were left waiting")
    else:
        _check_loss(check, summary, run, figures)

    tau = parameters.get("mean_bounded_slowdown", {}).get("tau", 10)
    for where, expected, found in _percentiles(summary, figures, tau):
        compare(check, where, expected, found)
    for where, expected, found in _classes(summary, figures, tau):
        compare(check, where, expected, found)
    return check


def _check_objective(
    check: Check, stated: Mapping[str, Any], figures: Figures, declared: Declared
) -> None:
    name, own = declared.objective, dict(declared.objective_parameters)
    check.expect("objective.name", name, stated.get("name"))
    check.expect("objective.parameters", own, stated.get("parameters"))
    try:
        expected = figures.objective(name, own)
    except KeyError as error:
        # Of a weighted sum, the plugin's may be one of the terms.
        (unknown,) = error.args
        whose = "is a plugin's" if unknown == name else f"adds up {unknown}, a plugin's,"
        check.notes.append(f"the objective {name} {whose} and was not worked out again")
        return
    compare(check, "objective.value", expected, stated.get("value"))


def _check_loss(
    check: Check, summary: Mapping[str, Any], run: RunColumns, figures: Figures
) -> None:
    stated = summary.get("loss_of_capacity_by_resource", {})
    lower = figures.loss_of_capacity(rejected_wait=False)
    rejected = bool((run.rejected_by == "dispatcher").any())
    upper = figures.loss_of_capacity(rejected_wait=True) if rejected else lower
    used = figures.utilization()
    busiest = max(used, key=used.__getitem__, default=None)
    found = {f"loss_of_capacity_by_resource.{name}": (name, stated.get(name)) for name in lower}
    if busiest is not None:
        found["metrics.loss_of_capacity"] = busiest, summary["metrics"].get("loss_of_capacity")
    for where, (name, value) in found.items():
        if not rejected:
            compare(check, where, lower[name], value)
        elif not _within(lower[name], value, upper[name]):
            check.found(f"{where}: expected {lower[name]!r} to {upper[name]!r}, found {value!r}")
    if rejected:
        check.notes.append(
            "when jobs were rejected is not recorded: loss_of_capacity was checked against bounds"
        )


def _within(lower: float, found: Any, upper: float) -> bool:
    slack = TOLERANCE * upper
    return isinstance(found, int | float) and lower - slack <= found <= upper + slack


def _percentiles(
    summary: Mapping[str, Any], figures: Figures, tau: int
) -> Iterator[tuple[str, float | None, Any]]:
    for quantity, values in figures.percentiles(tau).items():
        for key, found in summary.get("percentiles", {}).get(quantity, {}).items():
            rank = math.ceil(int(key.removeprefix("p")) * len(values) / 100)
            expected = values[max(rank, 1) - 1].item() if len(values) else None
            yield f"percentiles.{quantity}.{key}", expected, found


def _classes(
    summary: Mapping[str, Any], figures: Figures, tau: int
) -> Iterator[tuple[str, float | None, Any]]:
    for k, stated in enumerate(summary.get("classes", [])):
        again = figures.of_class(stated["run_time_from"], stated["run_time_to"], tau)
        for name, expected in again.items():
            yield f"classes[{k}].{name}", expected, stated.get(name)
