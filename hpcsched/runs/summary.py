"""The summary of a run: accounts of jobs and rounds, metrics and objective."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.offline.offline_problem import OfflinePlan
from hpcsched.dispatching.problem import Objective
from hpcsched.errors import InputError
from hpcsched.metrics.capacity import loss_of_capacity_by_resource, utilization_by_resource
from hpcsched.metrics.column_sums import mean_of_floats
from hpcsched.metrics.job_metrics import class_values, nearest_rank, percentiles
from hpcsched.metrics.metric import (
    ChosenMetric,
    DownAmounts,
    RunTables,
    Table,
    figure_fault,
    whole_column,
)
from hpcsched.plugin_faults import FAULTS, is_third_party, log_traceback, named, raised
from hpcsched.runs.files import STATES
from hpcsched.runs.solver_rounds import solver_rounds
from hpcsched.runs.tables import RunRecords
from hpcsched.workload.trace_source import TraceAccount

DEFAULT_TAU = 10

PROVED = 1e-6
"""Relative gap up to which a plan counts as proved optimal."""

ROUNDING = 1e-9
"""Relative excess of a bound over its value that is rounding."""


class ChosenObjective(NamedTuple):
    """Objective with its name and the parameters of the scenario."""

    name: str
    objective: Objective
    parameters: Mapping[str, Any]


class Measures(NamedTuple):
    """Figures that a summary reports.

    Attributes
    ----------
    capacity
        Capacity of the system, by resource type.
    percents, class_bounds
        Percentiles, from 0 to 100, and run times between classes, in seconds, ascending; both use
        the `tau` of the metric `mean_bounded_slowdown`.
    down
        Amounts out of service over time, by resource type.
    """

    capacity: Mapping[str, int]
    metrics: Mapping[str, ChosenMetric]
    objective: ChosenObjective
    percents: Sequence[int]
    class_bounds: Sequence[int]
    down: Mapping[str, DownAmounts] = MappingProxyType({})


class Remaining(NamedTuple):
    """Numbers of waiting and running jobs when a run was interrupted."""

    waiting: int
    running: int


def summarize(
    records: RunRecords,
    measures: Measures,
    account: TraceAccount,
    remaining: Remaining | None = None,
) -> dict[str, Any]:
    """Return the summary of a run.

    A metric or an objective that fails does not take the finished run with it: its value is None,
    and `not_measured` has the reason.

    Parameters
    ----------
    remaining
        Jobs in the system when the run was interrupted; None for a complete run.
    """
    capacity, metrics, objective, percents, class_bounds, down = measures
    failed: dict[str, str] = {}
    run = RunTables(records.jobs, records.rounds, dict(capacity), down, records.left.read)
    bounded = metrics.get("mean_bounded_slowdown")
    tau = bounded.parameters.get("tau", DEFAULT_TAU) if bounded else DEFAULT_TAU
    figures = {
        "jobs": job_account(account, records.states, remaining, records.rejected_by),
        "objective": {
            "name": objective.name,
            "parameters": dict(objective.parameters),
            "value": measured("objective", objective.name, objective.objective, run.jobs, failed),
        },
        "metrics": {
            name: measured("metric", name, chosen.metric, run, failed)
            for name, chosen in metrics.items()
        },
        "definitions": {
            name: {
                "unit": chosen.metric.unit,
                "population": chosen.metric.population,
                "parameters": dict(chosen.parameters),
            }
            for name, chosen in metrics.items()
        },
        "utilization_by_resource": utilization_by_resource(run),
        "loss_of_capacity_by_resource": loss_of_capacity_by_resource(run),
        "percentiles": percentiles(run.jobs, percents, tau),
        "classes": class_values(run.jobs, class_bounds, tau),
        "rounds": round_figures(run.rounds, records.statuses),
    }
    # Only where there is something: a key that is empty in all runs would tell nothing.
    return figures | ({"not_measured": failed} if failed else {})


def job_account(
    account: TraceAccount,
    ended: Mapping[str, int],
    remaining: Remaining | None,
    rejected_by: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the account of all records that were read; `remaining` is None at the end.

    `read` = `submitted` + all `skipped`, and `submitted` = `completed` + `killed` + `rejected` +
    `failed`, with `rejected` the sum of all `rejected_by`. In an interrupted run `waiting` and
    `running` count as well, and jobs that had been read ahead are `not_yet_submitted`.
    """
    # States without jobs are listed with 0, so that readers need not guess.
    by_state = {state: ended.get(state, 0) for state in STATES}
    jobs: dict[str, Any] = {
        "read": account.read,
        "skipped": dict(sorted(account.skipped.items())),
        "clipped": dict(sorted(account.clipped.items())),
        "changed": dict(sorted(account.changed.items())),
        **({"faults": list(account.faults.values())} if account.faults else {}),
        "submitted": account.submitted,
        **by_state,
        "rejected_by": dict(sorted(rejected_by.items())),
    }
    if remaining is not None:
        submitted = sum(by_state.values()) + remaining.waiting + remaining.running
        jobs["submitted"] = submitted
        jobs["waiting"] = remaining.waiting
        jobs["running"] = remaining.running
        jobs["not_yet_submitted"] = account.submitted - submitted
    return jobs


def round_figures(rounds: Table, statuses: Mapping[str, int]) -> dict[str, Any]:
    """Return the numbers of rounds: all, with a fallback, and with a solver, by its status."""
    asked, fallbacks = solver_rounds(statuses), whole_column(rounds, "fallback")
    return {
        "count": len(fallbacks),
        "fallbacks": int(fallbacks.sum()),
        "asked_solver": asked.asked,
        "without_plan": asked.unsolved,
        "solver": dict(sorted(statuses.items())),
    }


def measured(
    kind: str, name: str, measure: Any, subject: RunTables | Table, failed: dict[str, str]
) -> float | None:
    """Return the value of a metric or objective as a finite number, or None."""
    what = named(kind, measure, name)
    try:
        value = measure.measure(subject)
    except InputError as error:
        # Damage of the run's own files is no failure of a metric; a plugin that asks for a column
        # that no run has is one.
        unknown = all(finding.rule == "unknown-column" for finding in error.findings)
        if not (unknown and is_third_party(measure)):
            raise
        failed[what] = "; ".join(finding.message for finding in error.findings)
        return None
    except FAULTS as error:
        failed[what] = raised(error)
        log_traceback(error)
        return None
    if value is None or type(value) is int:
        return value
    fault = figure_fault(value)
    if fault is None:
        return float(value)
    # Bundled figures may have no finite value, such as a mean over a time without length.
    if is_third_party(measure) or not isinstance(value, float | np.floating):
        failed[what] = fault
    return None


def measured_times(rounds: Table) -> dict[str, Any]:
    """Return mean and 99th percentile (nearest rank) of decision times, in real seconds.

    Both are None without rounds.
    """
    times = whole_column(rounds, "decision_time")
    count = len(times)
    p99 = None
    if count:
        rank = nearest_rank(99, count)
        # A full sort of a million rounds is not needed for one rank.
        times.partition(rank)
        p99 = times[rank].item()
    mean = mean_of_floats(rounds, ("decision_time",), lambda seconds: seconds)
    return {"decision_time_mean": mean, "decision_time_p99": p99}


def offline_figures(plan: OfflinePlan, value: float | None) -> dict[str, Any]:
    """Return value, lower bound and gap of a run that followed an off-line plan.

    `gap` is (value − lower bound) / |value|: no schedule of these jobs is better by more. It is
    None without a bound or a value, as is the proof.
    """
    bound = plan.lower_bound
    if bound is not None and value is not None and value < bound <= value + ROUNDING * abs(value):
        # A proof of optimality must not fail by the last bit of a float.
        bound = value
    gap = None
    if value is not None and bound is not None:
        gap = (value - bound) / abs(value) if value != bound else 0.0
    return {
        "value": value,
        "lower_bound": bound,
        "gap": gap,
        "proved": None if gap is None else gap <= PROVED,
        "bound_by": plan.bound_by,
    }
