"""Checks of the summary's figures against figures computed again."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hpcsched.audit.columns import RunColumns
from hpcsched.audit.declared import Declared
from hpcsched.audit.figures import Figures
from hpcsched.audit.violations import TOLERANCE, Check, compare
from hpcsched.system.outages import Outages, down_time
from hpcsched.system.system import System


def check_figures(
    summary: Mapping[str, Any],
    run: RunColumns,
    system: System,
    declared: Declared,
    *,
    partial: bool,
    attempts: RunColumns,
    outages: Outages,
) -> Check:
    """Check every figure of a summary within a relative tolerance of 10⁻⁹.

    The loss of capacity of a partial run is not checked, since its waiting jobs are not recorded;
    that of a run with jobs that the dispatcher rejected must lie between two bounds.
    """
    check = Check(f"every figure of the summary, worked out again, agrees within {TOLERANCE:g}")
    down = down_time(outages.all) if outages.all else None
    figures = Figures(run, system, attempts, down)
    parameters = declared.metric_parameters
    stated = summary["metrics"]
    for name, expected in figures.metrics(parameters).items():
        compare(check, f"metrics.{name}", expected, stated.get(name))
    # Metrics of plugins have no second implementation to compare with.
    known = {*figures.metrics(parameters), "loss_of_capacity"}
    for name in stated:
        if name not in known:
            check.notes.append(f"metrics.{name} is a plugin's and was not worked out again")
    check.expect("metrics", sorted(declared.definitions), sorted(stated))
    for name, definition in declared.definitions.items():
        whole = {**definition._asdict(), "parameters": dict(parameters[name])}
        check.expect(f"definitions.{name}", whole, summary.get("definitions", {}).get(name))

    _check_objective(check, summary.get("objective", {}), figures, declared)
    utilization = figures.utilization()
    stated_utilization = summary.get("utilization_by_resource", {})
    check.expect("utilization_by_resource", sorted(utilization), sorted(stated_utilization))
    for name, expected in utilization.items():
        where = f"utilization_by_resource.{name}"
        compare(check, where, expected, stated_utilization.get(name))
    if partial:
        check.notes.append("loss_of_capacity was not worked out again: jobs were left waiting")
    else:
        _check_loss(check, summary, run, figures)

    tau = parameters["mean_bounded_slowdown"]["tau"]
    _check_percentiles(check, summary.get("percentiles", {}), figures, declared.percentiles, tau)
    _check_classes(check, summary.get("classes", []), figures, declared.class_bounds, tau)
    return check


def _check_objective(
    check: Check, stated: Mapping[str, Any], figures: Figures, declared: Declared
) -> None:
    """Check name, parameters and value of the objective."""
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
    """Check the loss of capacity by resource type, and the metric of the busiest one."""
    stated = summary.get("loss_of_capacity_by_resource", {})
    lower = figures.loss_of_capacity(rejected_wait=False)
    used = figures.utilization()
    busiest = max(used, key=used.__getitem__, default=None)
    found = {f"loss_of_capacity_by_resource.{name}": (name, stated.get(name)) for name in lower}
    if busiest is not None:
        found["metrics.loss_of_capacity"] = busiest, summary["metrics"].get("loss_of_capacity")
    if not (run.rejected_by == "dispatcher").any():
        for where, (name, value) in found.items():
            compare(check, where, lower[name], value)
        return
    upper = figures.loss_of_capacity(rejected_wait=True)
    for where, (name, value) in found.items():
        if not _lies_within(lower[name], value, upper[name]):
            check.found(f"{where}: expected {lower[name]!r} to {upper[name]!r}, found {value!r}")
    check.notes.append(
        "when jobs were rejected is not recorded: loss_of_capacity was checked against bounds"
    )


def _lies_within(lower: float, found: Any, upper: float) -> bool:
    """Return True if a figure lies between two bounds, within the tolerance."""
    slack = TOLERANCE * upper
    return isinstance(found, int | float) and lower - slack <= found <= upper + slack


def _check_percentiles(
    check: Check, stated: Mapping[str, Any], figures: Figures, percents: Sequence[int], tau: int
) -> None:
    """Check that the declared percentiles are there, and no other."""
    again = figures.percentiles(tau)
    check.expect("percentiles", sorted(again), sorted(stated))
    for quantity, values in again.items():
        found = stated.get(quantity, {})
        wanted = sorted({f"p{percent}" for percent in percents})
        check.expect(f"percentiles.{quantity}", wanted, sorted(found))
        for percent in percents:
            rank = math.ceil(percent * len(values) / 100)
            expected = values[max(rank, 1) - 1].item() if len(values) else None
            key = f"p{percent}"
            compare(check, f"percentiles.{quantity}.{key}", expected, found.get(key))


# Names that a summary gives to up to three classes; more are numbered.
_CLASS_NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}


def _check_classes(
    check: Check,
    stated: Sequence[Mapping[str, Any]],
    figures: Figures,
    bounds: Sequence[int],
    tau: int,
) -> None:
    """Check that the declared classes are there, and no other."""
    count = len(bounds) + 1
    names = _CLASS_NAMES.get(count, tuple(f"class {k + 1}" for k in range(count)))
    check.expect("classes", list(names), [one.get("class") for one in stated])
    for k, found in zip(range(count), stated, strict=False):
        # The first class ends below its bound, and the others with theirs.
        least = 0 if k == 0 else bounds[0] if k == 1 else bounds[k - 1] + 1
        most = None if k == count - 1 else bounds[0] - 1 if k == 0 else bounds[k]
        check.expect(f"classes[{k}].run_time_from", least, found.get("run_time_from"))
        check.expect(f"classes[{k}].run_time_to", most, found.get("run_time_to"))
        again = figures.of_class(least, most, tau)
        keys = {"class", "run_time_from", "run_time_to", *again}
        check.expect(f"classes[{k}]", sorted(keys), sorted(found))
        for name, expected in again.items():
            compare(check, f"classes[{k}].{name}", expected, found.get(name))
