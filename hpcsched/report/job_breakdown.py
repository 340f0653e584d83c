"""Classes of jobs, such as users or queues, and metrics of schedules by class."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.arrow_arrays import arrow_array, computed
from hpcsched.dispatching.problem import Objective
from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.job_metrics import mean_bounded_slowdown, mean_wait_time
from hpcsched.metrics.metric import Column
from hpcsched.metrics.metric import Table as JobsTable
from hpcsched.report.compared_study import ComparedStudy, tau_of
from hpcsched.report.studied_runs import StudiedRun, short_labels
from hpcsched.report.tables.report_table import Cell, Table, shown, titled
from hpcsched.report.tables.run_comparison import baseline_marked, percent_of, value_text
from hpcsched.runs.assembly import assemble
from hpcsched.runs.columns import JOB_COLUMNS
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import read_partitions, read_system
from hpcsched.system.system import Request, System
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.trace_calendar import calendar_of, trace_names

UNKNOWN = "unknown"
"""Name of the class of jobs of which nothing is recorded."""
WITH_GPU, WITHOUT_GPU = "GPU", "no GPU"
"""Names of the classes of jobs that ask for GPUs, and that do not."""

OF_JOBS = ("units", "unit_request", "user", "group", "application", "queue", "partition")
"""Columns of `jobs.parquet` from which jobs are classified."""
SITE_PARTITION = "site_partition"
"""Column with the name of the scenario's partition of each job."""
DEVICES = "devices_asked"
"""Column with what a unit of each job asks for, where GPUs are devices: its order and its name."""


class JobAttributes(NamedTuple):
    """Attributes of jobs, by which they are classified: columns, `[J]` each, None where unknown."""

    columns: Mapping[str, Sequence[Any]]
    submits: Column
    comments: Sequence[str]

    @classmethod
    def of(
        cls,
        jobs: Any,
        partitions: Partitions,
        comments: Sequence[str],
        system: System | None = None,
    ) -> "JobAttributes":
        """Return the attributes of an Arrow table of jobs; the system tells what devices are."""
        names = [name for name in OF_JOBS if name in jobs.column_names]
        columns = {name: jobs[name].to_pylist() for name in names}
        if partitions:
            columns[SITE_PARTITION] = site_partitions(partitions, columns, comments)
        if system is not None and system.devices is not None:
            groups = jobs["node_groups"].to_pylist()
            columns[DEVICES] = devices_asked(system, columns["unit_request"], groups)
        return cls(columns, jobs["submit_time"].to_numpy(), comments)


class JobClasses(NamedTuple):
    """Classes of jobs: their names, and the place in them of the class of each job, `[J]`."""

    names: Sequence[str]
    of_jobs: Column


def job_classes(kind: str, jobs: JobAttributes) -> JobClasses:
    """Return the classes of jobs."""
    keys = KINDS[kind](jobs)
    # Jobs without a class come last, whatever the others are sorted by.
    known = sorted({key for key in keys if key is not None})
    place = {key: number for number, key in enumerate(known)}
    names = [str(name) for _, name in known]
    places = [len(known) if key is None else place[key] for key in keys]
    of_jobs = np.array(places, dtype=np.int64)
    if len(names) in of_jobs:
        names.append(UNKNOWN)
    return JobClasses(names, of_jobs)


def class_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds of classes with these names, each once.

    Examples
    --------
    >>> class_kinds(["qos", "queue", "user"])
    ['queue', 'user']
    """
    kinds = []
    for name in names:
        kind = OTHER_NAMES.get(name, name)
        if kind not in KINDS:
            there = ", ".join((*KINDS, *OTHER_NAMES))
            message = f"there are no classes of jobs by {name!r}; there are: {there}"
            raise InputError(Finding("unknown-class", message))
        kinds.append(kind)
    return list(dict.fromkeys(kinds))


def site_partitions(
    partitions: Partitions, columns: Mapping[str, Sequence[Any]], comments: Sequence[str]
) -> list[str | None]:
    """Return the name of each job's partition; None for a job that belongs to none."""
    queues, others = trace_names(comments, "queue"), trace_names(comments, "partition")
    count = max((len(values) for values in columns.values()), default=0)

    @cache
    def named(
        partition: int | None, queue: int | None, group: int | None, application: int | None
    ) -> str | None:
        job = Job(
            0,
            0,
            Request(1, (0,)),
            0,
            group=group,
            application=application,
            queue=queue,
            partition=partition,
            queue_name=None if queue is None else queues.get(queue),
            partition_name=None if partition is None else others.get(partition),
        )
        found = partitions.of(job)
        return None if found is None else found.name

    names = ("partition", "queue", "group", "application")
    return list(map(named, *(columns.get(name) or [None] * count for name in names)))


def devices_asked(
    system: System,
    requests: Sequence[Mapping[str, int]],
    node_groups: Sequence[Sequence[str] | None],
) -> list[tuple[int, str]]:
    """Return an order and a name of the devices that a unit of each job asks for.

    Shares of a device are classed by quarters. Jobs that may only use some models have these before
    the name: `V100: up to 0.50 GPU`, `2 GPU`, `1g.5gb`.
    """
    assert system.devices is not None
    kind, shares, profiles = system.devices
    names = {one.amount: one.name for one in profiles}
    models = {group.name: group.model or group.name for group in system.groups}
    declared = any(group.model for group in system.groups)

    @cache
    def named(amount: int, groups: tuple[str, ...]) -> tuple[int, str]:
        if not amount:
            return 0, f"no {kind.upper()}"
        quarter = -(-4 * amount // shares)
        name = f"{amount // shares} {kind.upper()}"
        if amount % shares:
            name = names.get(amount, f"up to {quarter / 4:.2f} {kind.upper()}")
        allowed = " or ".join(sorted({models[group] for group in groups})) if declared else ""
        order = amount if profiles or amount >= shares else quarter * shares // 4
        return order, f"{allowed}: {name}" if allowed else name

    pairs = zip(requests, node_groups, strict=True)
    return [named(request[kind], tuple(groups or ())) for request, groups in pairs]


_Keys = Sequence[tuple[int | str, int | str] | None]
"""What classes are sorted by, and their names; None for a job without a class."""


def _attribute(name: str) -> Callable[[JobAttributes], _Keys]:
    def keys(jobs: JobAttributes) -> _Keys:
        values = jobs.columns.get(name) or [None] * len(jobs.submits)
        names = trace_names(jobs.comments, name)
        counts = Counter(names[number] for number in set(values) if number in names)

        def label(number: int) -> int | str:
            if number not in names:
                return number
            # Two numbers of one name stay two classes.
            return names[number] if counts[names[number]] == 1 else f"{names[number]} ({number})"

        return [None if value is None else (value, label(value)) for value in values]

    return keys


def _partitions(jobs: JobAttributes) -> _Keys:
    """Return the scenario's partitions, or the log's where the scenario declares none."""
    declared = jobs.columns.get(SITE_PARTITION)
    if declared is None:
        return _attribute("partition")(jobs)
    return [None if name is None else (name, name) for name in declared]


def _sizes(jobs: JobAttributes) -> _Keys:
    """Return binary orders of magnitude of the numbers of units."""
    keys: list[tuple[int | str, int | str] | None] = []
    for units in jobs.columns["units"]:
        order = (units - 1).bit_length()
        least, most = 2 ** (order - 1) + 1 if order else 1, 2**order
        keys.append((order, f"{least} to {most}" if least < most else str(most)))
    return keys


def _gpus(jobs: JobAttributes) -> _Keys:
    """Return whether jobs ask for a resource type with `gpu` in its name, or for which devices."""
    if DEVICES in jobs.columns:
        return jobs.columns[DEVICES]
    classes = {True: (0, WITH_GPU), False: (1, WITHOUT_GPU)}
    requests = jobs.columns.get("unit_request") or [None] * len(jobs.submits)
    return [
        None
        if request is None
        else classes[any(n and "gpu" in name for name, n in request.items())]
        for request in requests
    ]


def _hours(jobs: JobAttributes) -> _Keys:
    """Return hours of the day of submission, by the clock of the log."""
    submits = jobs.submits.tolist()
    calendar = calendar_of(jobs.comments, min(submits, default=0))
    hours = (calendar.place(submit).hour for submit in submits)
    return [(hour, f"{hour:02} h") for hour in hours]


KINDS: Mapping[str, Callable[[JobAttributes], _Keys]] = {
    "partition": _partitions,
    "queue": _attribute("queue"),
    "group": _attribute("group"),
    "user": _attribute("user"),
    "size": _sizes,
    "gpu": _gpus,
    "hour": _hours,
}
"""Kinds of classes by their names: what the classes of the jobs are sorted by, and called."""

ClassName = Literal["partition", "queue", "qos", "group", "account", "user", "size", "gpu", "hour"]
"""Names of kinds of classes, as `hpcsched compare --by` takes them."""

OTHER_NAMES = {"qos": "queue", "account": "group"}
"""Other names of kinds: Slurm's quality of service is a log's queue, its account a group."""

TITLES = {
    "queue": "queue (QOS)",
    "group": "group (account)",
    "size": "number of units",
    "gpu": "use of GPUs",
    "hour": "hour of submission",
}
"""Kinds of classes in titles, where that is not the name."""


MOST_CLASSES = 20
"""Number of classes that are shown; of more, those with the largest area."""
ALL = "all jobs"
"""Name of the class of all jobs."""
_IN_ORDER = ("size", "gpu", "hour")
"""Kinds of classes with an order of their own; the others are in the order of their areas."""
_KEPT = ("whole", "amounts", "demand", "flag")
"""Kinds of columns that objectives may read."""

BoolColumn = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Schedule:
    """Jobs as they started in a run, or according to the log, by ascending number.

    The objective is None if it is unknown here; the note says where starts are from that are of no
    run.
    """

    name: str
    source: Path
    run: RunDirectory
    jobs: pa.Table
    tau: int
    objective: Objective | None
    note: str = ""

    @cached_property
    def attributes(self) -> JobAttributes:
        """Attributes of the jobs, by which they are classified."""
        partitions = read_partitions(self.run.scenario_path)
        comments, system = self.run.manifest.trace_comments, read_system(self.run.scenario_path)
        return JobAttributes.of(self.jobs, partitions, comments, system)

    @cached_property
    def areas(self) -> FloatColumn:
        """Demand × run time of each job, `[J]`."""
        demand, run_time = (self.jobs[name].to_numpy() for name in ("demand", "run_time"))
        return np.asarray(demand.astype(np.float64) * run_time)

    def only(self, keep: BoolColumn) -> "Schedule":
        """Return some of the jobs."""
        return replace(self, jobs=computed("filter", self.jobs, arrow_array(keep)))


Measure = Callable[[Schedule, JobsTable], float | None]
"""Returns the value of a metric over some jobs of a schedule."""


class ClassValues(NamedTuple):
    """Values of a class of jobs by the title of a metric, one for each schedule."""

    name: str
    jobs: tuple[int, ...]
    area_percent: tuple[float | None, ...]
    values: Mapping[str, tuple[float | None, ...]]


class JobBreakdown(NamedTuple):
    """Metrics of schedules by class of jobs.

    The classes that are not shown, `left_out`, are one together; the last class is all jobs.
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

    @property
    def labels(self) -> list[str]:
        """Labels of the runs, and the name of the log's own schedule."""
        labels = short_labels(one.name for one in self.schedules if not one.note)
        return [labels.get(one.name, one.name) for one in self.schedules]


def read_schedule(one: StudiedRun, objective: Objective | None) -> Schedule:
    """Return the schedule of a run; its objective is None if it cannot be built here."""
    table = one.run.all_jobs
    names = [c.name for c in JOB_COLUMNS if c.kind in _KEPT and table.has(c.name)]
    jobs = table.read(*names, "node_groups")
    jobs = jobs.filter(jobs["start_time"].is_valid()).sort_by("job_id")
    return Schedule(one.name, one.run.path, one.run, jobs, tau_of(one), objective)


def job_breakdown(
    schedules: Sequence[Schedule], baseline: int, kind: str, most: int = MOST_CLASSES
) -> JobBreakdown:
    """Return the metrics of schedules by class of jobs."""
    classes = [job_classes(kind, one.attributes) for one in schedules]
    of_jobs = [np.array(one.names, dtype=np.object_)[one.of_jobs] for one in classes]
    # The baseline's classes come first, in their order.
    names = list(dict.fromkeys(n for one in (classes[baseline], *classes) for n in one.names))
    area = schedules[baseline].areas
    sums = {name: float(area[of_jobs[baseline] == name].sum()) for name in names}
    shown = sorted(names, key=lambda name: -sums[name])
    # A single class more takes the row that the others would have.
    if len(names) > most + 1:
        shown = shown[:most]
    if kind in _IN_ORDER:
        shown = [name for name in names if name in shown]
    left_out = len(names) - len(shown)
    groups = [(name, [of == name for of in of_jobs]) for name in shown]
    if left_out:
        others = [~np.isin(of.astype(np.str_), shown) for of in of_jobs]
        groups.append((f"{left_out} others", others))
    groups.append((ALL, [np.ones(len(of), dtype=np.bool_) for of in of_jobs]))
    measures = _measures(schedules)
    measured = []
    for name, masks in groups:
        both = list(zip(schedules, masks, strict=True))
        jobs = [(one, ArrowTable(one.only(inside).jobs)) for one, inside in both]
        areas = [
            100 * float(one.areas[inside].sum() / one.areas.sum()) if one.areas.any() else None
            for one, inside in both
        ]
        values = {title: tuple(of(*own) for own in jobs) for title, (_, of) in measures.items()}
        counts = tuple(int(inside.sum()) for inside in masks)
        measured.append(ClassValues(name, counts, tuple(areas), values))
    units = {title: unit for title, (unit, _) in measures.items()}
    return JobBreakdown(kind, tuple(schedules), baseline, units, tuple(measured), left_out)


def _measures(schedules: Sequence[Schedule]) -> Mapping[str, tuple[str, Measure]]:
    """Return the metrics with their units, by title: first the objective, where all share it."""
    found: dict[str, tuple[str, Measure]] = {}
    stated = [one.run.summary.get("objective", {}) for one in schedules]
    titles = {titled(str(about.get("name", "objective")), about) for about in stated}
    if len(titles) == 1 and all(one.objective is not None for one in schedules):
        definitions = schedules[0].run.summary.get("definitions", {})
        found[titles.pop()] = (
            definitions.get(stated[0].get("name"), {}).get("unit", ""),
            lambda one, jobs: None if one.objective is None else one.objective.measure(jobs),
        )
    taus = ", ".join(map(str, sorted({one.tau for one in schedules})))
    found.setdefault("mean_wait_time", ("s", lambda _, jobs: mean_wait_time(jobs)))
    found.setdefault(
        f"mean_bounded_slowdown (tau = {taus})",
        ("", lambda one, jobs: mean_bounded_slowdown(jobs, one.tau)),
    )
    return found


def breakdowns(
    compared: ComparedStudy,
    kinds: Sequence[str] | None = None,
    log: Schedule | None = None,
    *,
    log_is_baseline: bool = False,
) -> Iterator[JobBreakdown]:
    """Yield the metrics of runs, then of the log's schedule, by class of jobs.

    Kinds None: those of which the baseline has two classes or more.
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


def breakdown_table(breakdown: JobBreakdown) -> Table:
    """Return a table of formatted metrics, with a section for each metric and a row for each class.

    Values of other schedules than the baseline have their percentage of the baseline's in brackets.
    """
    base = breakdown.baseline
    rows: list[Sequence[Cell]] = []
    sections = []
    for metric, unit in breakdown.units.items():
        for one in breakdown.classes:
            share, values = one.area_percent[base], one.values[metric]
            cells = (
                value_text(value, None if k == base else percent_of(value, values[base]))
                for k, value in enumerate(values)
            )
            area = shown(None) if share is None else f"{share:.1f}"
            rows.append((one.name, one.jobs[base], area, *cells))
            sections.append(f"{metric}, in {unit}" if unit else metric)
    header = (breakdown.kind, "jobs", "area [%]", *baseline_marked(breakdown.labels, base))
    return replace(
        breakdown_values(breakdown), header=header, rows=rows, words=1, sections=sections
    )


def breakdown_values(breakdown: JobBreakdown) -> Table:
    """Return a table of exact values with a row for each class, metric and schedule."""
    rows = [
        (
            one.name, metric, unit, schedule.name, str(schedule.source), one.jobs[k],
            one.area_percent[k], value, percent_of(value, one.values[metric][breakdown.baseline]),
        )
        for one in breakdown.classes
        for metric, unit in breakdown.units.items()
        for k, (schedule, value) in enumerate(
            zip(breakdown.schedules, one.values[metric], strict=True)
        )
    ]  # fmt: skip
    header = (
        *(breakdown.kind, "metric", "unit", "run", "directory", "jobs", "area_percent"),
        *("value", "percent_of_baseline"),
    )
    name, title = f"by_{breakdown.kind}", f"By {breakdown.title}"
    return Table(header, rows, name, title, tuple(_notes(breakdown)))


def _notes(breakdown: JobBreakdown) -> Iterator[str]:
    baseline = breakdown.labels[breakdown.baseline]
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
    if breakdown.kind in _ABOUT:
        yield _ABOUT[breakdown.kind]


_ABOUT = {
    "partition": "Partitions are those of the scenario, or the log's where it declares none.",
    "size": "The number of units that a job asks for, in classes that end at powers of two.",
    "gpu": "GPU: jobs that ask for a resource type with gpu in its name; where GPUs are devices,"
    " what a unit asks of them.",
    "hour": "Hours of the day by the clock of the log.",
}
"""Notes on kinds of classes."""
