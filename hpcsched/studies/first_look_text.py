"""Text of a first look at a log: a table and sentences."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun, open_study
from hpcsched.report.studying import compare_study
from hpcsched.report.tables.report_table import MISSING, Cell, Table, headed
from hpcsched.report.tables.run_account import account_of_jobs
from hpcsched.report.tables.run_comparison import BEST, Comparison
from hpcsched.report.tables.study_answer import difference
from hpcsched.studies.first_look import Look, Tried, busiest_text
from hpcsched.studies.trial_scenarios import BusyPart

_NEGLIGIBLE = 0.005
"""Relative difference of objectives up to which no dispatcher counts as ahead, however sure it is:
where nearly nothing waits, a job or two make all of it.
"""
_METRICS = ("mean_wait_time", "mean_bounded_slowdown", "utilization")


class Standing(NamedTuple):
    """Dispatchers beside each other.

    Attributes
    ----------
    least
        The dispatcher with the least objective; None if no job ran.
    waited
        Percentage of the jobs that wait under the first dispatcher.
    comparison
        Metrics of the runs, and of the log's own schedule if asked for.
    """

    least: str | None
    close: tuple[str, ...]
    alike: bool
    waited: float
    comparison: Comparison

    @property
    def winner(self) -> str | None:
        """The dispatcher that is ahead of all others beyond noise."""
        alone = len(self.comparison.runs) < 2
        return None if self.close or alone else self.least


def account_text(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the account of the log's records, which is the same for all runs."""
    yield from account_of_jobs(tried[0].directory.summary)


def standing_of(tried: Sequence[Tried], *, recorded: bool = False) -> Standing:
    """Return the standing of the dispatchers that were tried."""
    study = open_study([one.directory.path for one in tried])
    by_path = {one.run.path: one for one in study.runs}
    found = compare_study(study, recorded=recorded)
    ranked = sorted((one for one in tried if one.objective is not None), key=_rank)
    close = []
    for one in ranked[1:]:
        runs = (by_path[run.directory.path] for run in (ranked[0], one))
        if not _beyond_noise(found.study, *runs):
            close.append(one.label)
    jobs = next(iter(found.study.jobs.values()))
    waited = int((jobs.starts > jobs.submits).sum())
    return Standing(
        ranked[0].label if ranked else None,
        tuple(close),
        len(ranked) > 1 and len(close) == len(ranked) - 1,
        100 * waited / max(len(jobs.starts), 1),
        found.comparison,
    )


def _beyond_noise(compared: ComparedStudy, best: StudiedRun, other: StudiedRun) -> bool:
    """Return whether a run is ahead of another one by more than chance."""
    objective = best.run.summary["objective"]
    least, more = objective["value"], other.run.summary["objective"]["value"]
    if more - least <= _NEGLIGIBLE * abs(more):
        return False
    interval = difference(compared, best, other, objective)
    return interval is None or interval.beyond_noise


def tried_table(tried: Sequence[Tried], standing: Standing) -> Table:
    """Return the dispatchers by ascending objective, the best marked if it is beyond noise."""
    objective = tried[0].directory.summary["objective"]["name"]
    first = tried[0].objective

    def change(value: float | None) -> float | None:
        return None if value is None or not first else 100 * (value / first - 1)

    rows: list[tuple[Cell, ...]] = []
    for one in sorted(tried, key=_rank):
        metrics = (one.metric(name) for name in _METRICS)
        mark = BEST if one.label == standing.winner else ""
        audit = "ok" if one.audit.ok else "not ok"
        rows.append((mark, one.label, one.objective, change(one.objective), *metrics, audit))
    log = standing.comparison.log
    if log is not None:
        figures = log.figures
        metrics = (figures.metrics.get(name) for name in _METRICS)
        rows.append(("", log.name, figures.objective, change(figures.objective), *metrics, MISSING))
    return Table(
        "tried",
        f"Dispatchers by {objective}",
        (
            *headed("", "dispatcher", "objective"),
            (f"than_{tried[0].label}", "%"),
            ("mean_wait_time", "s"),
            *headed("mean_bounded_slowdown", "utilization", "audit"),
        ),
        tuple(rows),
        tuple(_footer(tried, standing, objective)),
    )


def _footer(tried: Sequence[Tried], standing: Standing, objective: str) -> Iterator[str]:
    lower = f"The objective is {objective}: lower is better."
    if standing.winner is not None:
        yield f"{lower} {BEST} is the best."
    elif standing.alike:
        used = tried[0].metric("utilization")
        machine = "" if used is None else f", and the machine is used at {100 * used:.0f} %"
        yield (
            f"{lower} These jobs cannot tell the dispatchers apart: differences are within noise or"
            f" below {100 * _NEGLIGIBLE:g} %. {standing.waited:.1f} % of the jobs wait{machine}."
        )
    elif standing.close:
        yield f"{lower} Within noise of {standing.least}, so unmarked: {', '.join(standing.close)}."
    else:
        yield lower
    log = standing.comparison.log
    if log is not None:
        yield f"{log.name}: {log.in_words()}."


def busier_text(look: Look, part: BusyPart | None) -> str:
    """Return how to tell dispatchers apart that are alike."""
    smaller = "a smaller machine (--nodes) or more jobs (--jobs)"
    if part is None or part.skip == look.log.skip:
        return f"to tell dispatchers apart: {smaller}"
    return f"add --busiest to replay {busiest_text(part, look.log.jobs)}; or take {smaller}"


def content_of(look: Look, tried: Sequence[Tried], standing: Standing) -> dict[str, Any]:
    """Return the look for JSON."""
    log = standing.comparison.log
    return {
        "log": str(look.log.path),
        "format": look.log.format.source,
        "machine": {**look.machine._asdict(), "others": dict(look.machine.others)},
        "jobs": tried[0].directory.summary["jobs"],
        "objective": tried[0].directory.summary["objective"]["name"],
        "dispatchers": [
            {
                "name": one.label,
                "objective": one.objective,
                "metrics": one.directory.summary["metrics"],
                "audit": one.audit.ok,
            }
            for one in sorted(tried, key=_rank)
        ],
        "best": standing.winner,
        "within_noise_of_least": list(standing.close),
        "busiest": None if look.busiest is None else look.busiest._asdict(),
        "recorded": None if log is None else log.figures._asdict(),
    }


def _rank(one: Tried) -> tuple[bool, float]:
    return one.objective is None, one.objective or 0.0
