"""The summary of a run: what became of the jobs, and how well users and machine were served."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hpcsched.dispatching.objective import Objective
from hpcsched.errors import HpcschedError, PluginError
from hpcsched.metrics.capacity import loss_of_capacity_by_resource, utilization_by_resource
from hpcsched.metrics.classes import class_values
from hpcsched.metrics.metric import Metric, RunTables
from hpcsched.metrics.percentiles import percentiles
from hpcsched.metrics.tables import DownAmounts, Table
from hpcsched.results.files import SUMMARY, write_json
from hpcsched.results.schema import STATES
from hpcsched.results.solver_rounds import solver_rounds
from hpcsched.results.tables import rejection_counts, run_tables, solver_statuses, state_counts
from hpcsched.workload.account import TraceAccount

DEFAULT_TAU = 10


class ChosenMetric(NamedTuple):
    """A metric with the parameters that it was built with, as the scenario gives them."""

    metric: Metric
    parameters: Mapping[str, Any]


class ChosenObjective(NamedTuple):
    """An objective with its name and the parameters that it was built with."""

    name: str
    objective: Objective
    parameters: Mapping[str, Any]


class Left(NamedTuple):
    """How many jobs were in the system when a run was broken off."""

    waiting: int
    running: int


def summarize(
    folder: Path,
    *,
    capacity: Mapping[str, int],
    account: TraceAccount,
    metrics: Mapping[str, ChosenMetric],
    objective: ChosenObjective,
    percents: Sequence[int],
    class_bounds: Sequence[int],
    left: Left | None = None,
    down: Mapping[str, DownAmounts] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the summary of the run whose tables are in a folder.

    `capacity` is the system's, by resource type. `percents` are the percentiles to report, from 0
    to 100, `class_bounds` the run times in seconds that part jobs into classes; both use the `tau`
    of the metric `mean_bounded_slowdown`. `left` is given for a run that was broken off, and `down`
    for one with outages: what of each resource type is out of service, and when. Raises
    PluginError where a metric or the objective fails, InputError where a table is damaged.
    """
    run = run_tables(folder, dict(capacity), down)
    bounded = metrics.get("mean_bounded_slowdown")
    tau = bounded.parameters.get("tau", DEFAULT_TAU) if bounded else DEFAULT_TAU
    return {
        "jobs": job_account(account, state_counts(folder), left, rejection_counts(folder)),
        "objective": {
            "name": objective.name,
            "parameters": dict(objective.parameters),
            "value": _measure(f"objective {objective.name}", objective.objective, run.jobs),
        },
        "metrics": {
            name: _measure(f"metric {name}", chosen.metric, run) for name, chosen in metrics.items()
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
        "rounds": round_figures(run.rounds) | solver_figures(solver_statuses(folder)),
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write `summary.json`; raises InputError where it cannot be written."""
    write_json(folder / SUMMARY, summary)


def job_account(
    account: TraceAccount,
    ended: Mapping[str, int],
    left: Left | None,
    rejected_by: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return what became of every record of the trace, as far as it was read.

    `read` = `submitted` + all `skipped`, and `submitted` = `completed` + `killed` + `rejected` +
    `failed`, with `rejected` the sum of all `rejected_by`. In a run that was broken off `waiting`
    and `running` count as well, and jobs that had been read ahead are `not_yet_submitted`.
    """
    by_state = {state: ended.get(state, 0) for state in STATES}
    jobs: dict[str, Any] = {
        "read": account.read,
        "skipped": dict(sorted(account.skipped.items())),
        "clipped": dict(sorted(account.clipped.items())),
        "changed": dict(sorted(account.changed.items())),
        "submitted": account.submitted,
        **by_state,
        "rejected_by": dict(rejected_by),
    }
    if left is not None:
        submitted = sum(by_state.values()) + left.waiting + left.running
        jobs["submitted"] = submitted
        jobs["waiting"] = left.waiting
        jobs["running"] = left.running
        jobs["not_yet_submitted"] = account.submitted - submitted
    return jobs


def round_figures(rounds: Table) -> dict[str, Any]:
    """Return the number of rounds, and in how many of them there was a fallback."""
    count = fallbacks = 0
    for (fallback,) in rounds.batches("fallback"):
        count += len(fallback)
        fallbacks += int(fallback.sum())
    return {"count": count, "fallbacks": fallbacks}


def solver_figures(statuses: Mapping[str, int]) -> dict[str, Any]:
    """Return the number of rounds that asked a solver, of those without a plan, and by status."""
    rounds = solver_rounds(statuses)
    return {
        "asked_solver": rounds.asked,
        "without_plan": rounds.unsolved,
        "solver": dict(statuses),
    }


def _measure(what: str, measure: Any, subject: RunTables | Table) -> float | None:
    """Return the value of a metric or objective as JSON can hold it: a finite number, or None."""
    try:
        value = measure.measure(subject)
        if value is None or isinstance(value, int):
            return value
        number = float(value)
    except HpcschedError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed: {type(error).__name__}: {error}") from error
    return number if math.isfinite(number) else None
