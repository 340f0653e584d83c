"""Text of a tuning study: tables and sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import QUANTITIES
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.study_tables import ends
from hpcsched.studies.tuning_study import Trial, TuningStudy

_MOST = 10
"""Number of trials in the table, the best."""


def trials_table(study: TuningStudy) -> Table:
    """Return the best trials with their values and objective in the training window."""
    paths = list(study.tuned.space.parameters)
    kept = [trial for trial in study.trials if trial.keeps_constraints]
    shown = sorted(kept, key=_rank)[:_MOST]
    rows = [
        (trial.number, *(_cell(trial.values[path]) for path in paths), trial.objective)
        for trial in shown
    ]
    failed = [trial for trial in study.trials if trial.objective is None]
    exceeded = len(study.trials) - len(kept) - len(failed)
    notes = [
        f"{len(study.trials)} trials: {len(kept)} keep all constraints, {exceeded} do not, and"
        f" {len(failed)} failed.",
        *(f"Trial {trial.number} failed: {trial.message}" for trial in failed[:1]),
    ]
    return Table(
        ("trial", *short_names(paths), "objective"),
        rows,
        "trials",
        "The best trials, on the training window",
        tuple(notes),
    )


def short_names(paths: Sequence[str]) -> list[str]:
    """Return for each key path its shortest end that no other one has.

    Examples
    --------
    >>> short_names(["order.weights.age", "order.weights.qos", "order.qos"])
    ['age', 'weights.qos', 'order.qos']
    """
    names = []
    for path in paths:
        steps = path.split(".")
        ends_ = (".".join(steps[-count:]) for count in range(1, len(steps) + 1))
        others = [f".{other}" for other in paths if other != path]
        alone = (end for end in ends_ if not any(o.endswith(f".{end}") for o in others))
        names.append(next(alone, path))
    return names


def later_table(study: TuningStudy) -> Table:
    """Return the differences of the later window's jobs from the scenario as it is."""
    rows: list[tuple[Cell, ...]] = []
    for quantity, one in (study.differences or {}).items():
        bounds = ends(one.interval)[1:]
        shares = (100 * one.less, 100 * one.more)
        unit = QUANTITIES[quantity].unit or "1"
        means = (one.base, one.variant, one.mean)
        rows.append((quantity, unit, one.jobs, *means, *bounds, *shares, one.verdict))
    columns = (
        *("quantity", "unit", "jobs", "as_it_is", "tuned", "mean_difference"),
        *("lower", "upper", "less [%]", "more [%]", "verdict"),
    )
    return Table(
        columns,
        rows,
        "later",
        "The best trial on the later window, which the search has not seen",
        ("Differences of the same jobs, tuned less as it is, with 95 % intervals.",),
    )


def verdict_lines(study: TuningStudy) -> Iterator[str]:
    """Yield the findings as sentences."""
    objective = study.tuned.base.objective.plugin_name
    first, later = study.jobs
    split = study.calendar.instant(study.split)
    yield (
        f"Searched on the first {first} jobs, up to {split}; judged on the {later} jobs after them."
    )
    if study.best is None:
        yield (
            f"No trial that keeps the constraints has a lower {objective} on the first jobs than"
            f" the scenario as it is, {_text(study.trained)}."
        )
        return
    yield (
        f"{objective}, as it is and tuned: {_text(study.trained)} and"
        f" {_text(study.best.objective)} on the first jobs, {_text(study.later)} and"
        f" {_text(study.best_later)} on the later ones."
    )
    over = [
        f"{limit.by}, by {excess:.6g}"
        for limit, excess in zip(study.tuned.space.constraints, study.later_excesses, strict=True)
        if excess > 0
    ]
    if over:
        yield f"On the later jobs it exceeds a constraint: {'; '.join(over)}."
    elif study.later_excesses:
        yield "On the later jobs it keeps the constraints."
    yield _gain(study)


def tuning_content(study: TuningStudy) -> dict[str, Any]:
    """Return the study for JSON."""
    best = study.best
    return {
        "name": study.tuned.name,
        "scenario": study.tuned.base.name,
        "objective": study.tuned.base.objective.plugin_name,
        "jobs": {"training": study.jobs[0], "later": study.jobs[1]},
        "split": study.split,
        "as_it_is": {"training": study.trained, "later": study.later},
        "best": None
        if best is None
        else {
            "trial": best.number,
            "values": dict(best.values),
            "training": best.objective,
            "later": study.best_later,
            "later_excesses": list(study.later_excesses),
        },
        "verdict": list(verdict_lines(study)),
        "tables": {
            table.name: table.content() for table in (trials_table(study), later_table(study))
        },
    }


def _gain(study: TuningStudy) -> str:
    worse = (
        study.best_later is not None
        and study.later is not None
        and no_less(study.best_later, study.later)
    )
    if worse:
        return "It is no better on the later jobs: the gain was one of the first jobs alone."
    found = study.differences or {}
    beyond = [name for name, one in found.items() if one.verdict == "lower"]
    if beyond:
        return f"The gain on the later jobs is beyond noise: {', '.join(beyond)}."
    return "The gain on the later jobs is within noise."


def _rank(trial: Trial) -> float:
    return float("inf") if trial.objective is None else trial.objective


def _cell(value: Any) -> Cell:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
