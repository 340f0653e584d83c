"""The answer of a study in a few sentences: who is ahead, by how much, and beyond noise or not."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hpcsched.metrics.bootstrap import Interval, paired_interval
from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import QUANTITIES, ComparedStudy, by_submission
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import duration_text, parameters_text, titled
from hpcsched.report.tables.run_comparison import Comparison, LogColumn, shared_objective
from hpcsched.report.tables.study_tables import common_jobs

_MINUTE = 60
_MEANS = {
    "mean_wait_time": "wait_time",
    "mean_response_time": "response_time",
    "mean_bounded_slowdown": "bounded_slowdown",
}
"""Objectives that are the mean of a quantity over the same jobs in all runs."""


def answer(
    compared: ComparedStudy, not_ok: Collection[str] | None, comparison: Comparison | None = None
) -> list[str]:
    """Return the answer of a study, one sentence or two a line.

    Parameters
    ----------
    not_ok
        Names of runs whose audit does not say `ok`; None if they were not audited.
    comparison
        Metrics of the runs; with the log's own schedule, the runs are given in percent of it.

    Notes
    -----
    A difference is beyond noise if the 95 % interval of its mean over the same jobs, by a block
    bootstrap (`metrics/bootstrap.py`), does not hold 0.
    """
    runs = compared.study.runs
    lines = []
    if len(runs) > 1:
        lines += list(_ahead(compared))
    if comparison is not None and comparison.log is not None:
        lines.append(_beside_log(comparison, comparison.log))
    labels = compared.study.run_labels
    fallbacks = {labels[one.name]: one.run.summary["rounds"].get("fallbacks", 0) for one in runs}
    lines.append(_fallback_line(fallbacks))
    if not_ok is None:
        lines.append("The runs were not audited.")
    elif not_ok:
        lines.append(f"The audit does not say ok: {', '.join(labels[name] for name in not_ok)}.")
    else:
        lines.append("The audit of each run says ok.")
    return lines


def _ahead(compared: ComparedStudy) -> Iterator[str]:
    runs = compared.study.runs
    objective = shared_objective([one.run for one in runs])
    if objective is None:
        yield "The runs have different objectives, so none of them is ahead."
        return
    title = titled(str(objective["name"]), parameters_text(objective))
    cases: dict[tuple[str, int], list[StudiedRun]] = {}
    for one in runs:
        cases.setdefault((one.group, one.seed), []).append(one)
    compared_cases = [_ranked(case) for case in cases.values()]
    compared_cases = [case for case in compared_cases if len(case) > 1]
    if not compared_cases:
        yield f"No two runs of one trace and seed have a value of the objective, {title}."
    elif len(compared_cases) == 1:
        yield from _of_one_case(compared, compared_cases[0], objective, title)
    else:
        labels = compared.study.configuration_labels
        best = Counter(
            "no single run"
            if no_less(_value(case[0]) or 0.0, _value(case[1]) or 0.0)
            else labels[case[0].configuration]
            for case in compared_cases
        )
        counted = ", ".join(f"{name} in {count}" for name, count in best.most_common())
        yield (
            f"By the objective, {title}, over {len(compared_cases)} cases (a trace and a seed):"
            f" ahead is {counted}."
        )


def _beside_log(comparison: Comparison, log: LogColumn) -> str:
    """Return the runs in percent of the log's own schedule, which is no run and is not ranked."""
    no_run = "The log's own schedule, which is not replayed and not ranked,"
    if comparison.objective is None:
        return f"{no_run} is the column {log.name} of the tables."
    row = comparison.rows[comparison.objective]
    value = row.values[-1]
    if value is None:
        return f"{no_run} has no value of the objective."
    shares = zip(comparison.labels[:-1], row.percent_of_log[:-1], strict=True)
    told = ", ".join(f"{label} {share:.1f} %" for label, share in shares if share is not None)
    jobs = ", over the same jobs" if log.same_jobs else ""
    return f"{no_run} has {value:,.6g} by the objective; in percent of that{jobs}: {told}."


def _ranked(case: Sequence[StudiedRun]) -> list[StudiedRun]:
    """Return the runs of a case that have a value of the objective, the least first."""
    return sorted(
        (one for one in case if _value(one) is not None), key=lambda one: _value(one) or 0
    )


def _in_words(one: StudiedRun, value: float) -> str:
    """Return a value of the objective, a time also in hours or days."""
    summary = one.run.summary
    about = summary.get("definitions", {}).get(summary["objective"]["name"], {})
    if about.get("unit") != "s" or value < _MINUTE:
        return f"{value:,.6g}"
    return f"{value:,.6g} s ({duration_text(round(value))})"


def _value(one: StudiedRun) -> float | None:
    value: float | None = one.run.summary["objective"]["value"]
    return value


def _of_one_case(
    compared: ComparedStudy, case: Sequence[StudiedRun], objective: Mapping[str, Any], title: str
) -> Iterator[str]:
    first, second = case[:2]
    labels = compared.study.run_labels
    least, next_one = _value(first) or 0.0, _value(second) or 0.0
    if no_less(least, next_one):
        same = [labels[one.name] for one in case if no_less(least, _value(one) or 0.0)]
        value = _in_words(first, least)
        yield f"By the objective, {title}, {', '.join(same)} are equal: {value}."
        return
    less = 100 * (1 - least / next_one)
    yield (
        f"{labels[first.name]} is ahead by the objective, {title}: {_in_words(first, least)}, which"
        f" is {_share(less)} less than {labels[second.name]} with {_in_words(second, next_one)}."
    )
    interval = difference(compared, first, second, objective)
    if interval is None:
        yield "Whether that is beyond noise is not known: the objective is no mean of job values."
        return
    beyond = "beyond noise" if interval.beyond_noise else "within noise"
    yield (
        f"The difference is {beyond}: over the same jobs its mean is {interval.mean:,.4g}, with a"
        f" 95 % interval from {interval.lower:,.4g} to {interval.upper:,.4g}."
    )


def difference(
    compared: ComparedStudy, one: StudiedRun, other: StudiedRun, objective: Mapping[str, Any]
) -> Interval | None:
    """Return the mean difference of an objective over the jobs of both runs, with its interval.

    Returns
    -------
    Interval or None
        None if the objective is no mean of a value of each job.
    """
    if objective["name"] not in _MEANS:
        return None
    mine, its = common_jobs(compared.jobs[one.name], compared.jobs[other.name])
    # Slowdowns of jobs are bounded as the metric's are, which the objective's need not be.
    tau = objective["parameters"].get("tau", mine.tau)
    mine, its = mine._replace(tau=tau), its._replace(tau=tau)
    quantity = QUANTITIES[_MEANS[objective["name"]]]
    order = by_submission(mine)
    return paired_interval(quantity.of(mine)[order], quantity.of(its)[order])


def _share(percent: float) -> str:
    """Return a percentage; below 0.05 as "under 0.1 %"."""
    return f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"


def _fallback_line(fallbacks: Mapping[str, int]) -> str:
    some = [f"{name} in {count:,} rounds" for name, count in fallbacks.items() if count]
    return (
        f"Fell back to another plan: {', '.join(some)}."
        if some
        else "No round fell back to another plan."
    )
