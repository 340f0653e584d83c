"""The answer of a study in a few sentences: who is ahead, by how much, and beyond noise or not."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hpcsched.metrics.bootstrap import Interval, paired_interval
from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import MEANS, QUANTITIES, ComparedStudy, by_submission
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import duration_text, titled
from hpcsched.report.tables.run_comparison import Comparison, LogColumn, shared_objective
from hpcsched.report.tables.study_tables import common_jobs

_MINUTE = 60


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
    runs, labels = compared.study.runs, compared.study.run_labels
    lines = list(_ahead(compared)) if len(runs) > 1 else []
    if comparison is not None and comparison.log is not None:
        lines.append(_beside_log(comparison, comparison.log))
    fallbacks = [
        f"{labels[one.name]} in {count:,} rounds"
        for one in runs
        if (count := one.run.summary["rounds"].get("fallbacks", 0))
    ]
    if fallbacks:
        lines.append(f"Fell back to another plan: {', '.join(fallbacks)}.")
    else:
        lines.append("No round fell back to another plan.")
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
    title = titled(str(objective["name"]), objective)
    by_case: dict[tuple[str, int], list[StudiedRun]] = defaultdict(list)
    for one in runs:
        if one.run.summary["objective"]["value"] is not None:
            by_case[one.group, one.seed].append(one)
    cases = [sorted(case, key=_value) for case in by_case.values() if len(case) > 1]
    if not cases:
        yield f"No two runs of one trace and seed have a value of the objective, {title}."
    elif len(cases) == 1:
        yield from _of_one_case(compared, cases[0], objective, title)
    else:
        labels = compared.study.configuration_labels
        best = Counter(
            "no single run"
            if no_less(_value(case[0]), _value(case[1]))
            else labels[case[0].configuration]
            for case in cases
        )
        counted = ", ".join(f"{name} in {count}" for name, count in best.most_common())
        yield (
            f"By the objective, {title}, over {len(cases)} cases (a trace and a seed): ahead is"
            f" {counted}."
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
    shares = zip(comparison.columns[:-1], row.percent_of_log[:-1], strict=True)
    listed = ", ".join(f"{run.label} {share:.1f} %" for run, share in shares if share is not None)
    jobs = ", over the same jobs" if log.same_jobs else ""
    return f"{no_run} has {value:,.6g} by the objective; in percent of that{jobs}: {listed}."


def _value(one: StudiedRun) -> float:
    """Return the value of the objective of a run that has one."""
    return float(one.run.summary["objective"]["value"])


def _in_words(one: StudiedRun) -> str:
    """Return the value of the objective, a time also in hours or days."""
    summary, value = one.run.summary, _value(one)
    about = summary.get("definitions", {}).get(summary["objective"]["name"], {})
    if about.get("unit") != "s" or value < _MINUTE:
        return f"{value:,.6g}"
    return f"{value:,.6g} s ({duration_text(round(value))})"


def _of_one_case(
    compared: ComparedStudy, case: Sequence[StudiedRun], objective: Mapping[str, Any], title: str
) -> Iterator[str]:
    first, second = case[:2]
    labels = compared.study.run_labels
    least, next_one = _value(first), _value(second)
    if no_less(least, next_one):
        same = ", ".join(labels[one.name] for one in case if no_less(least, _value(one)))
        yield f"By the objective, {title}, {same} are equal: {_in_words(first)}."
        return
    percent = 100 * (1 - least / next_one)
    less = f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"
    yield (
        f"{labels[first.name]} is ahead by the objective, {title}: {_in_words(first)}, which is"
        f" {less} less than {labels[second.name]} with {_in_words(second)}."
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
    quantity = QUANTITIES.get(MEANS.get(objective["name"], ""))
    if quantity is None or quantity.has is not None:
        return None
    mine, its = common_jobs(compared.jobs[one.name], compared.jobs[other.name])
    # Slowdowns of jobs are bounded as the metric's are, which the objective's need not be.
    tau = objective["parameters"].get("tau", mine.tau)
    mine, its = mine._replace(tau=tau), its._replace(tau=tau)
    order = by_submission(mine)
    return paired_interval(quantity.of(mine)[order], quantity.of(its)[order])
