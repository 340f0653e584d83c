"""A whole trace as arrays, and its objective as a cost of starts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.offline.offline_problem import OfflineProblem
from hpcsched.dispatching.planned_cost import (
    Plannable,
    PlannableRatio,
    linear,
    planned_cost_of,
    planned_ratio_of,
)
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.search_objective import no_cost
from hpcsched.dispatching.planning.selection import LARGEST, Selection, SelectionOptions
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, costs_of, total
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric import Column
from hpcsched.system.space import units_on_idle
from hpcsched.system.system import IntArray

_CLOSE = 1e-9
"""By how much, relatively, an objective may differ from what its cost says."""


@dataclass(frozen=True)
class PlanTable:
    """Planned or replayed jobs as a run's table, which objectives measure; columns are `[J]`."""

    columns: Mapping[str, npt.NDArray[Any]]

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the columns in one batch; raises InputError where a plan lacks one."""
        if lacking := [column for column in columns if column not in self.columns]:
            message = (
                f"the objective looks at {lacking[0]!r} of jobs, which a plan or a replay of the"
                " past does not have; expected one that looks at no more than"
                f" {', '.join(self.columns)}"
            )
            raise InputError(Finding("objective-not-replayed", message, key="objective"))
        yield tuple(self.columns[name] for name in columns)


class Trace(NamedTuple):
    """The `J` jobs, in order of submission, and the idle system.

    Attributes
    ----------
    problem
        The problem, with all jobs. Its first submission is the origin of times.
    """

    problem: OfflineProblem
    selection: Selection

    @property
    def data(self) -> ModelData:
        """The model; its times are in seconds from the origin."""
        return self.selection.data

    @property
    def jobs(self) -> tuple[WaitingJob, ...]:
        """The jobs."""
        return self.selection.jobs

    @property
    def submit(self) -> IntArray:
        """When jobs are submitted, `[J]`, in seconds from the origin."""
        return self.data.releases

    @property
    def run_times(self) -> IntArray:
        """Run times in seconds, `[J]`."""
        return self.data.run_times

    @property
    def job_count(self) -> int:
        """J."""
        return len(self.jobs)

    @property
    def aggregated(self) -> bool:
        """True if units are counted, since all are equal."""
        return self.selection.nodes is None

    def replaced(self, **changes: Any) -> "Trace":
        """Return the trace with other fields of its model."""
        return self._replace(selection=self.selection._replace(data=replace(self.data, **changes)))

    def measure(self, starts: IntArray) -> float | None:
        """Return the objective of a plan; starts in seconds from the origin, `[J]`."""
        columns = {
            "submit_time": self.submit,
            "start_time": starts,
            "end_time": starts + self.run_times,
            "run_time": self.run_times,
            "demand": np.array([float(job.demand) for job in self.jobs]),
        }
        return self.problem.objective.measure(PlanTable(columns))


def least_demands(trace: Trace) -> IntArray:
    """Return the least amounts that each job holds in any schedule, `[J, R]`.

    A plan spreads an exclusive job evenly over its nodes; another schedule may use fewer nodes, the
    largest ones. Lower bounds must count those.
    """
    units = trace.data.units.copy()
    system = trace.problem.system
    for j, job in enumerate(trace.jobs):
        if job.request.exclusive:
            fits = np.sort(units_on_idle(system, job.request))[::-1]
            fewest = int(np.searchsorted(fits.cumsum(), job.units)) + 1
            units[j] = min(units[j], fewest)
    return np.asarray(units[:, np.newaxis] * trace.data.requests)


def trace_of(problem: OfflineProblem) -> Trace | None:
    """Return the arrays of a problem; None without jobs."""
    jobs = problem.jobs
    if not jobs:
        return None
    if idle := [job.job_id for job in jobs if job.predicted_run_time == 0]:
        message = f"job {idle[0]} runs for no time; expected a trace with `zero_run_time: skip`"
        raise InputError(Finding("not-offline", message, key="simulation.mode"))
    # Weights are made whole numbers for models, which are not asked here.
    selection = select(
        problem.as_if_waiting(jobs),
        jobs,
        SelectionOptions("all", len(jobs), None, largest=LARGEST),
        lambda some, _: linear(np.zeros(len(some))),
    )
    if selection is None or len(selection.jobs) < len(jobs):
        known = set() if selection is None else {job.job_id for job in selection.jobs}
        lost = next(job for job in jobs if job.job_id not in known)
        message = f"job {lost.job_id} cannot be planned: it is alone on nodes of unlike room"
        raise InputError(Finding("not-offline", message, key="simulation.mode"))
    releases = np.array([job.submit_time - problem.origin for job in jobs], dtype=np.int64)
    return Trace(problem, selection).replaced(releases=releases)


class LinearisedObjective(NamedTuple):
    """An objective as a cost: its value is `factor` · (cost) + `offset`.

    For a ratio of sums the cost is that at the costs' own Dinkelbach parameter λ, and the value
    has its sign: the ratio is below λ just where the cost is below 0.
    """

    costs: StartTimeCosts
    factor: float
    offset: float
    ratio: bool

    def value(self, cost: float) -> float:
        """Return the objective of a cost."""
        return self.factor * cost + self.offset


def linearised_objective(trace: Trace) -> LinearisedObjective:
    """Return the objective of a trace as a cost."""
    objective, jobs, origin = trace.problem.objective, trace.jobs, trace.problem.origin
    run_times = trace.run_times
    if isinstance(objective, PlannableRatio) and not isinstance(objective, Plannable):
        return LinearisedObjective(
            costs_of(planned_ratio_of(objective, jobs, origin, 0.0), trace.submit, run_times),
            1.0,
            0.0,
            True,
        )
    if not isinstance(objective, Plannable):
        raise no_cost(objective)
    costs = costs_of(planned_cost_of(objective, jobs, origin), trace.submit, run_times)
    # A cost may be a sum where the objective is a mean, so how they go together is measured.
    lasting = np.cumsum(run_times)
    # The last end says nothing of the plan where a job that runs for no time comes after all.
    early = trace.submit + lasting if costs.makespan else trace.submit
    late = early + lasting
    amid = early + (late - early) // 2
    low, middle, high = (total(costs, starts) for starts in (early, amid, late))
    first, between, last = (trace.measure(starts) for starts in (early, amid, late))
    if first is None or last is None or between is None or high == low:
        return LinearisedObjective(costs, 0.0, float(first or 0.0), False)
    # Two plans fix the line, the third shows that it is one.
    factor = (last - first) / (high - low)
    linearised = LinearisedObjective(costs, factor, first - factor * low, False)
    if factor < 0 or abs(linearised.value(middle) - between) > _CLOSE * abs(between):
        raise no_cost(objective)
    return linearised


def linearised_at(
    linearised: LinearisedObjective, dinkelbach_parameter: float
) -> LinearisedObjective:
    """Return the cost of a ratio of sums at another Dinkelbach parameter."""
    return linearised._replace(
        costs=linearised.costs._replace(dinkelbach_parameter=dinkelbach_parameter)
    )
