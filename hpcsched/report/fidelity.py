"""Fidelity of a replay: how well it reproduces the waits that its log records, and why not."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import HpcschedError
from hpcsched.metrics.capacity import OverTime, means_between, over_time, spanning
from hpcsched.metrics.metric import Column
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import ALL, TITLES, Schedule, job_classes, read_schedule
from hpcsched.report.studied_runs import Study
from hpcsched.report.studying import recorded_schedule
from hpcsched.report.tables.report_table import Table, duration_text
from hpcsched.report.tables.run_comparison import are_apart
from hpcsched.scenario.resolved import read_system
from hpcsched.workload.trace_calendar import calendar_of

WITHIN = (1, 10, 60)
"""Differences of waits, in minutes, of which the shares of jobs are given."""
POPULATION = "Population: jobs that ran and whose start the log records."
_MINUTE = 60
_LEAST_JOBS = 10
_PERIODS = 8
_ALL, _SHORT = 101, 0.01
"""Percent of a resource type that are more than all, and share of the time that does not count."""
_GOOD = 0.9
"""Share of jobs with about the recorded wait from which on no cause is named."""


class WaitFit(NamedTuple):
    """Replayed and recorded waits of a class of jobs.

    Attributes
    ----------
    within
        Shares of the jobs whose waits differ by at most `WITHIN`, from 0 to 1.
    replayed, recorded
        Mean waits, in seconds.
    """

    kind: str
    name: str
    jobs: int
    within: tuple[float, ...]
    replayed: float
    recorded: float

    @property
    def ratio(self) -> float | None:
        """Total wait replayed / recorded; None if none is recorded."""
        return self.replayed / self.recorded if self.recorded else None

    @property
    def percent(self) -> list[float]:
        """`within` in percent."""
        return [100 * share for share in self.within]

    @property
    def off(self) -> bool:
        """Whether the mean waits differ by more than a factor of 2, and by more than a minute."""
        return are_apart(self.replayed, self.recorded)


class Fidelity(NamedTuple):
    """Agreement of a run with its log.

    Attributes
    ----------
    fits
        By partition, by queue, and of all jobs.
    use
        Begin of each of equal periods as text, with replayed and recorded use of the first resource
        type in it, in percent.
    causes
        Likely causes of differences, as sentences.
    """

    run: str
    fits: tuple[WaitFit, ...]
    use: tuple[tuple[str, float, float], ...]
    causes: tuple[str, ...]

    @property
    def all(self) -> WaitFit:
        """Waits of all jobs."""
        return self.fits[-1]

    def lines(self) -> Iterator[str]:
        """Yield what a reader of the run's figures has to know, as sentences."""
        found = self.all
        told = duration_text(round(found.replayed)), duration_text(round(found.recorded))
        yield (
            f"{self.run} against its log, over {found.jobs:,} jobs: the mean wait is {told[0]}, and"
            f" {told[1]} is recorded; {found.percent[1]:.0f} % of the jobs wait within"
            f" {WITHIN[1]} minutes of what they did."
        )
        if found.off:
            ratio = found.ratio
            by = f"by a factor of {max(ratio, 1 / ratio):.3g}" if ratio else "altogether"
            yield (
                f"{self.run} is off {by}: it is no replica of the site, and differences from it do"
                " not say what a change would do there."
            )
        if self.causes and (found.off or found.within[1] < _GOOD):
            yield f"Likely causes: {'; '.join(self.causes)}."


def fidelity(compared: ComparedStudy, begin: int = 0) -> Fidelity:
    """Return the agreement of the baseline's run with its log.

    Parameters
    ----------
    begin
        Second of the trace from which on submitted jobs count.

    Raises
    ------
    InputError
        If the log records no schedule of the run's jobs, or cannot be read.
    """
    one = compared.baseline_run
    alone = ComparedStudy(Study((one,)))
    recorded = recorded_schedule(alone)[0]
    recorded = recorded.only(recorded.jobs["submit_time"].to_numpy() >= begin)
    replayed = read_schedule(one, None)
    known = np.isin(replayed.jobs["job_id"].to_numpy(), recorded.jobs["job_id"].to_numpy())
    replayed = replayed.only(known)
    waits = _waits(replayed), _waits(recorded)
    fits = [*_fits(recorded, *waits, "partition"), *_fits(recorded, *waits, "queue")]
    fits.append(_fit("", ALL, *waits))
    courses = _in_use(replayed), _in_use(recorded)
    return Fidelity(
        compared.study.run_labels[one.name],
        tuple(fits),
        tuple(_use(recorded, courses)),
        tuple(_causes(one.run.summary["jobs"], fits, *waits, courses[1])),
    )


@lru_cache(maxsize=1)
def known_fidelity(compared: ComparedStudy) -> Fidelity | str:
    """Return the agreement of the baseline's run with its log, or the reason why it is unknown."""
    try:
        return fidelity(compared)
    # A report needs neither the log nor the plugin that reads it.
    except HpcschedError as error:
        return str(error)


def fidelity_table(found: Fidelity) -> Table:
    """Return the replayed and recorded waits of a run by class of jobs."""
    return Table(
        (
            *("class", "jobs", *(f"within {n} min [%]" for n in WITHIN)),
            *("mean_wait [s]", "recorded [s]", "ratio"),
        ),
        [
            (one.name, one.jobs, *one.percent, one.replayed, one.recorded, one.ratio)
            for one in found.fits
        ],
        "fidelity",
        f"Waits of {found.run} and of its log",
        (
            POPULATION,
            "within: share of the jobs whose wait differs from the recorded one by at most that.",
            "ratio: total wait replayed / recorded.",
        ),
        sections=[TITLES.get(one.kind, one.kind).capitalize() for one in found.fits],
    )


def use_table(found: Fidelity) -> Table:
    """Return the use of the system over time, replayed and recorded."""
    return Table(
        ("from", "replayed [%]", "recorded [%]"),
        found.use,
        "fidelity-use",
        f"Use of the system by {found.run} and in its log",
        ("Of the first resource type, in percent of all nodes, over the jobs of the waits.",),
    )


def _waits(schedule: Schedule) -> Column:
    start, submit = (schedule.jobs[name].to_numpy() for name in ("start_time", "submit_time"))
    return np.asarray(start - submit)


def _fits(recorded: Schedule, ours: Column, its: Column, kind: str) -> Iterator[WaitFit]:
    classes = job_classes(kind, recorded.attributes)
    for number, name in enumerate(classes.names if len(classes.names) > 1 else ()):
        of_class = classes.of_jobs == number
        yield _fit(kind, name, ours[of_class], its[of_class])


def _fit(kind: str, name: str, ours: Column, its: Column) -> WaitFit:
    apart = np.abs(ours - its)
    within = tuple(float((apart <= minutes * _MINUTE).mean()) for minutes in WITHIN)
    return WaitFit(kind, name, len(ours), within, float(ours.mean()), float(its.mean()))


def _in_use(schedule: Schedule) -> Mapping[str, OverTime]:
    """Return the use of each resource type over time, in percent of all nodes."""
    system = read_system(schedule.run.scenario_path)
    jobs = schedule.jobs
    units, since, until = (jobs[k].to_numpy() for k in ("units", "start_time", "end_time"))
    found = {}
    for name, total in zip(system.resource_types, system.totals, strict=True):
        if total:
            each = pc.struct_field(jobs["unit_request"], name).to_numpy()
            used = over_time(since, until, units * each)
            found[name] = used._replace(levels=100 / total * used.levels)
    return found


def _use(
    recorded: Schedule, courses: tuple[Mapping[str, OverTime], ...]
) -> Iterator[tuple[str, float, float]]:
    submits = recorded.jobs["submit_time"].to_numpy()
    # To the last submission: the end of a trace runs empty.
    begin, end = int(submits.min()), int(submits.max())
    if begin == end:
        return
    edges = np.linspace(begin, end, _PERIODS + 1)
    means = [
        means_between(spanning(next(iter(course.values())), begin, end), edges)
        for course in courses
    ]
    calendar = calendar_of(recorded.run.manifest.trace_comments, begin)
    for edge, ours, its in zip(edges.tolist(), *(mean.tolist() for mean in means), strict=False):
        yield calendar.text(round(edge)), ours, its


def _causes(
    account: Mapping[str, Mapping[str, int]],
    fits: list[WaitFit],
    ours: Column,
    its: Column,
    recorded: Mapping[str, OverTime],
) -> Iterator[str]:
    """Yield likely causes of differences; `account` is the account of the run's jobs."""
    for name, course in recorded.items():
        # An end may be recorded some seconds after the next start.
        over = course.seconds[course.levels > _ALL].sum() / max(course.seconds.sum(), 1)
        if over > _SHORT:
            peak = course.levels.max()
            yield (
                f"the log's jobs had up to {peak:.0f} % of {name}, and more than all of it for"
                f" {100 * over:.0f} % of the time: nodes are missing here"
            )
    for rule, count in account["rejected_by"].items():
        yield f"{count:,} jobs of the log are rejected here ({rule})"
    for reason in ("never_started", "still_running", "larger_than_system"):
        count = account["skipped"].get(reason, 0)
        if count > len(ours) // 20:
            yield f"{count:,} records are no load here ({reason})"
    total = int(its.sum())
    held = (ours < _MINUTE) & (its >= WITHIN[1] * _MINUTE)
    if held.sum() >= _LEAST_JOBS and its[held].sum() > 0.1 * total:
        yield (
            f"{held.sum():,} jobs that start at once here waited more than {WITHIN[1]} minutes"
            f" there, {100 * its[held].sum() / total:.0f} % of all waits: held, dependent on other"
            " jobs, or kept by a limit or a reservation that is not in the scenario"
        )
    whole = int((ours - its).sum())
    for one in fits[:-1]:
        part = one.jobs * (one.replayed - one.recorded) / whole if whole else 0
        if part > 0.5 and one.jobs < 0.5 * len(ours):
            kind = TITLES.get(one.kind, one.kind)
            yield f"{100 * part:.0f} % of the difference is in {kind} {one.name}"
