"""Metrics of schedules by class of jobs, and their tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array, computed
from hpcsched.dispatching.problem import Objective
from hpcsched.errors import HpcschedError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.job_metrics import mean_bounded_slowdown, mean_wait_time
from hpcsched.metrics.metric import Table as JobsTable
from hpcsched.report.compared_study import ComparedStudy, tau_of
from hpcsched.report.job_classes import (
    KINDS,
    OF_JOBS,
    SITE_PARTITION,
    TITLES,
    JobAttributes,
    job_classes,
    site_partitions,
)
from hpcsched.report.run_labels import short_labels
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table, parameters_text, plain, shown, titled
from hpcsched.report.tables.run_comparison import percent_of, value_text
from hpcsched.runs.assembly import assemble
from hpcsched.runs.columns import JOB_COLUMNS
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import read_partitions

MOST_CLASSES = 20
"""Number of classes that are shown; of more, those with the largest area."""
ALL = "all jobs"
"""Name of the class of all jobs."""
_IN_ORDER = ("size", "gpu", "hour")
"""Kinds of classes with an order of their own; the others are in the order of their areas."""
_KEPT = ("whole", "amounts", "demand", "flag")
"""Kinds of columns that objectives may read."""

BoolColumn = npt.NDArray[np.bool_]


class Schedule(NamedTuple):
    """Jobs as they started in a run, or according to the log.

    Attributes
    ----------
    jobs
        Jobs that ran, by ascending number, with columns of `jobs.parquet`.
    tau
        Bound of the bounded slowdown, in seconds.
    objective
        The objective; None if it is unknown here.
    objective_title, objective_unit
        Its name with its parameters, and its unit.
    note
        Origin of the starts, if they are of no run.
    """

    name: str
    source: Path
    jobs: pa.Table
    attributes: JobAttributes
    tau: int
    objective: Objective | None
    objective_title: str
    objective_unit: str
    note: str = ""

    @property
    def areas(self) -> FloatColumn:
        """Demand × run time of each job, `[J]`."""
        demand, run_time = (self.jobs[name].to_numpy() for name in ("demand", "run_time"))
        return np.asarray(demand.astype(np.float64) * run_time)

    def only(self, keep: BoolColumn) -> "Schedule":
        """Return some of the jobs.

        Parameters
        ----------
        keep
            Mask over the jobs, `[J]`.
        """
        columns = {
            name: list(compress(values, keep.tolist()))
            for name, values in self.attributes.columns.items()
        }
        return self._replace(
            jobs=computed("filter", self.jobs, arrow_array(keep)),
            attributes=self.attributes._replace(
                columns=columns, submits=self.attributes.submits[keep]
            ),
        )


Measure = Callable[[Schedule, JobsTable], float | None]
"""Returns the value of a metric over some jobs of a schedule."""


class ClassValues(NamedTuple):
    """Values of a class of jobs, one for each schedule.

    Attributes
    ----------
    area_percent
        Share of its jobs in the area of all jobs, in percent; None without any area.
    values
        Values by the title of a metric; None where the class has none.
    """

    name: str
    jobs: tuple[int, ...]
    area_percent: tuple[float | None, ...]
    values: Mapping[str, tuple[float | None, ...]]


class JobBreakdown(NamedTuple):
    """Metrics of schedules by class of jobs.

    Attributes
    ----------
    classes
        The classes, then the other ones together, if not all are shown, then all jobs.
    left_out
        Number of classes that are not shown.
    """

    kind: str
    schedules: tuple[Schedule, ...]
    baseline: int
    units: Mapping[str, str]
    classes: tuple[ClassValues, ...]
    left_out: int

    @property
    def title(self) -> str:
        """Kind of the classes in words."""
        return TITLES.get(self.kind, self.kind)


def read_schedule(one: StudiedRun, objective: Objective | None) -> Schedule:
    """Return the schedule of a run.

    Parameters
    ----------
    objective
        Its objective; None if it cannot be built here.
    """
    table = one.run.all_jobs
    names = [c.name for c in JOB_COLUMNS if c.kind in _KEPT and table.has(c.name)]
    jobs = table.read(*names)
    jobs = jobs.filter(jobs["start_time"].is_valid()).sort_by("job_id")
    comments = one.run.manifest.trace_comments
    columns = {name: jobs[name].to_pylist() for name in OF_JOBS if name in names}
    partitions = read_partitions(one.run.scenario_path)
    if partitions:
        columns[SITE_PARTITION] = site_partitions(partitions, columns, comments)
    stated = one.run.summary.get("objective", {})
    name = str(stated.get("name", "objective"))
    return Schedule(
        one.name,
        one.run.path,
        jobs,
        JobAttributes(columns, jobs["submit_time"].to_numpy(), comments),
        tau_of(one),
        objective,
        titled(name, parameters_text(stated)),
        one.run.summary.get("definitions", {}).get(name, {}).get("unit", ""),
    )


def job_breakdown(
    schedules: Sequence[Schedule], baseline: int, kind: str, most: int = MOST_CLASSES
) -> JobBreakdown:
    """Return the metrics of schedules by class of jobs."""
    classes = [job_classes(kind, one.attributes) for one in schedules]
    of_jobs = [np.array(one.names, dtype=np.object_)[one.of_jobs] for one in classes]
    areas = [one.areas for one in schedules]
    # The baseline's classes come first, in their order.
    in_order = (name for one in (classes[baseline], *classes) for name in one.names)
    names = list(dict.fromkeys(in_order))
    sums = {name: float(areas[baseline][of_jobs[baseline] == name].sum()) for name in names}
    shown = _shown(sums, most, in_order=kind in _IN_ORDER)
    left_out = len(names) - len(shown)
    groups = [(name, [of == name for of in of_jobs]) for name in shown]
    if left_out:
        others = [~np.isin(of.astype(np.str_), shown) for of in of_jobs]
        groups.append((f"{left_out} others", others))
    groups.append((ALL, [np.ones(len(of), dtype=np.bool_) for of in of_jobs]))
    measures = _measures(schedules)
    return JobBreakdown(
        kind,
        tuple(schedules),
        baseline,
        {title: unit for title, (unit, _) in measures.items()},
        tuple(_measured(schedules, areas, group, measures) for group in groups),
        left_out,
    )


def _shown(areas: Mapping[str, float], most: int, *, in_order: bool) -> list[str]:
    """Return the names of the classes that are shown, those with the largest area, in order."""
    largest = sorted(areas, key=lambda name: -areas[name])
    # A single class more takes the row that the others would have.
    kept = largest if len(areas) <= most + 1 else largest[:most]
    return [name for name in areas if name in kept] if in_order else kept


def _measures(schedules: Sequence[Schedule]) -> Mapping[str, tuple[str, Measure]]:
    """Return the metrics with their units, by title: first the objective, where all share it."""
    found: dict[str, tuple[str, Measure]] = {}
    titles = {one.objective_title for one in schedules}
    if len(titles) == 1 and all(one.objective is not None for one in schedules):
        found[titles.pop()] = (
            schedules[0].objective_unit,
            lambda one, jobs: None if one.objective is None else one.objective.measure(jobs),
        )
    taus = ", ".join(map(str, sorted({one.tau for one in schedules})))
    found.setdefault("mean_wait_time", ("s", lambda _, jobs: mean_wait_time(jobs)))
    found.setdefault(
        f"mean_bounded_slowdown (tau = {taus})",
        ("", lambda one, jobs: mean_bounded_slowdown(jobs, one.tau)),
    )
    return found


def _measured(
    schedules: Sequence[Schedule],
    areas: Sequence[FloatColumn],
    group: tuple[str, Sequence[BoolColumn]],
    measures: Mapping[str, tuple[str, Measure]],
) -> ClassValues:
    """Return the values of one class: its name, and its jobs in each schedule."""
    name, masks = group
    jobs = [
        ArrowTable(computed("filter", one.jobs, arrow_array(inside)))
        for one, inside in zip(schedules, masks, strict=True)
    ]
    return ClassValues(
        name,
        tuple(int(inside.sum()) for inside in masks),
        tuple(
            100 * float(area[inside].sum() / area.sum()) if area.any() else None
            for area, inside in zip(areas, masks, strict=True)
        ),
        {
            title: tuple(of(one, table) for one, table in zip(schedules, jobs, strict=True))
            for title, (_, of) in measures.items()
        },
    )


def breakdowns(
    compared: ComparedStudy,
    kinds: Sequence[str] | None = None,
    log: Schedule | None = None,
    *,
    log_is_baseline: bool = False,
) -> Iterator[JobBreakdown]:
    """Yield the metrics of runs by class of jobs, for each kind of class.

    Parameters
    ----------
    compared
        The runs and their baseline.
    kinds
        Kinds of classes; None: those of which the baseline has two classes or more.
    log
        The schedule of the log, which comes after the runs; None: without it.
    log_is_baseline
        Whether it is the baseline.
    """
    if kinds is not None and not kinds:
        return
    runs = compared.study.runs
    schedules = [read_schedule(one, objective_of(one.run)) for one in runs]
    base = [one.name for one in runs].index(compared.baseline_run.name)
    if log is not None:
        # One population for all: the jobs whose start the log records.
        known = log.jobs["job_id"].to_numpy()
        schedules = [one.only(np.isin(one.jobs["job_id"].to_numpy(), known)) for one in schedules]
        schedules.append(log)
        base = len(runs) if log_is_baseline else base
    for kind in KINDS if kinds is None else kinds:
        found = job_breakdown(schedules, base, kind)
        # One class, and all jobs, say the same.
        if kinds is not None or len(found.classes) > 2:
            yield found


def objective_of(run: RunDirectory) -> Objective | None:
    """Return the objective of a run's scenario; None where it cannot be built here."""
    try:
        return assemble(load_scenario(run.scenario_path)).objective
    # A plugin need not be installed where runs are compared.
    except HpcschedError:
        return None


def breakdown_table(breakdown: JobBreakdown, *, sections: bool = True) -> Table:
    """Return a table of formatted metrics, with a row for each metric and class.

    Parameters
    ----------
    breakdown
        The metrics. Values of other schedules than the baseline have their percentage of the
        baseline's value in brackets.
    """
    base = breakdown.baseline
    labels = _labels(breakdown)
    titles = [f"{label} (baseline)" if k == base else label for k, label in enumerate(labels)]
    rows: list[tuple[Cell, ...]] = []
    begins = []
    for metric, unit in breakdown.units.items():
        title = f"{metric}, in {unit}" if unit else metric
        begins.append((len(rows), title))
        for one in breakdown.classes:
            share = one.area_percent[base]
            values = one.values[metric]
            cells = (
                value_text(value, None if k == base else percent_of(value, values[base]))
                for k, value in enumerate(values)
            )
            area = shown(None) if share is None else f"{share:.1f}"
            first = () if sections else (title,)
            rows.append((*first, one.name, one.jobs[base], area, *cells))
    header = (*plain(breakdown.kind, "jobs"), ("area", "%"), *plain(*titles))
    if not sections:
        header = (*plain("metric"), *header)
    return Table(
        f"by_{breakdown.kind}",
        f"By {breakdown.title}",
        header,
        tuple(rows),
        tuple(_notes(breakdown)),
        frozenset(range(1 if sections else 2, len(header))),
        tuple(begins) if sections else (),
    )


def breakdown_values(breakdown: JobBreakdown) -> Table:
    """Return a table of exact values with a row for each class, metric and schedule."""
    columns = (breakdown.kind, "metric", "unit", "run", "directory", "jobs", "area_percent")
    return Table(
        f"by_{breakdown.kind}",
        f"By {breakdown.title}",
        plain(*columns, "value", "percent_of_baseline"),
        tuple(row for one in breakdown.classes for row in _exact(breakdown, one)),
        tuple(_notes(breakdown)),
    )


def _exact(breakdown: JobBreakdown, one: ClassValues) -> Iterator[tuple[Cell, ...]]:
    for metric, unit in breakdown.units.items():
        values = one.values[metric]
        for k, schedule in enumerate(breakdown.schedules):
            about = (one.name, metric, unit, schedule.name, str(schedule.source))
            percent = percent_of(values[k], values[breakdown.baseline])
            yield (*about, one.jobs[k], one.area_percent[k], values[k], percent)


def _labels(breakdown: JobBreakdown) -> list[str]:
    """Return the labels of the runs, and the name of the log's own schedule."""
    labels = short_labels(one.name for one in breakdown.schedules if not one.note)
    return [labels.get(one.name, one.name) for one in breakdown.schedules]


def _notes(breakdown: JobBreakdown) -> Iterator[str]:
    baseline = _labels(breakdown)[breakdown.baseline]
    of_log = [one for one in breakdown.schedules if one.note]
    population = "jobs that ran and whose start the log records" if of_log else "all jobs that ran"
    yield f"In brackets: percent of {baseline}. Over {population}."
    for one in of_log:
        yield f"{one.name}: {one.note}."
    yield (
        f"jobs and area are those of {baseline}: area is the share of demand × run time, summed"
        " over the jobs."
    )
    if breakdown.left_out:
        count = len([one for one in breakdown.classes if one.name != ALL]) - 1
        yield (
            f"Shown are the {count} with the largest area; the {breakdown.left_out} others are one"
            " row."
        )
    about = _ABOUT.get(breakdown.kind)
    if about is not None:
        yield about


_ABOUT = {
    "partition": "Partitions are those of the scenario, or the log's where it declares none.",
    "size": "The number of units that a job asks for, in classes that end at powers of two.",
    "gpu": "GPU: jobs that ask for a resource type with gpu in its name.",
    "hour": "Hours of the day by the clock of the log.",
}
"""Notes on kinds of classes."""
