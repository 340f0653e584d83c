"""Accuracy of run-time predictors on a trace, without dispatching."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.errors import Finding, InputError, Place, PluginError
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.prediction.predictor import Oracle, Prediction, Predictor, PredictorDriver
from hpcsched.report.tables.report_table import MISSING, Cell, Table
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import LoadedScenario, Scenario
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.document import Document, Setting, parse_document, read_document
from hpcsched.scenario.loading import check_document
from hpcsched.scenario.review import missing_inputs
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.trace_source import TraceAccount, TraceSource

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Predictions of one predictor.

    Attributes
    ----------
    seconds
        Predicted run time of each job, `[J]`, in order of submission.
    rules
        Names of the rules of a predictor by rules; empty for any other.
    rule
        Name of the rule that answered, `[J]`; empty texts without rules.
    """

    seconds: IntArray
    rules: tuple[str, ...]
    rule: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class TracePredictions:
    """Real run times, `[J]`, in seconds, and the predictions of each predictor, by title."""

    run_times: IntArray
    predicted: dict[str, Predicted]


def predict_trace(
    jobs: Iterable[TracedJob],
    predictors: Mapping[str, Predictor | Oracle],
    *,
    kill_at_requested_time: bool = False,
) -> TracePredictions:
    """Return the predictions of all predictors for a trace.

    Parameters
    ----------
    jobs
        Jobs by ascending submit time.
    """
    drivers = [PredictorDriver(predictor, title) for title, predictor in predictors.items()]
    answers: list[list[Prediction]] = [[] for _ in drivers]
    run_times: list[int] = []
    # Instant, number, place in the trace (so that jobs are never compared), job and run time.
    ends: list[tuple[int, int, int, Job, int]] = []
    now: int | None = None
    for place, (job, given) in enumerate(jobs):
        run_time = min(given, job.requested_time) if kill_at_requested_time else given
        if now is not None and job.submit_time < now:
            raise PluginError(
                f"trace source: job {job.job_id} is submitted at {job.submit_time},"
                f" before a job that was submitted at {now}"
            )
        if now is None or job.submit_time > now:  # else submissions of the instant have begun
            now = job.submit_time
            while ends and ends[0][0] <= now:
                *_, ended, its_run_time = heappop(ends)
                for driver in drivers:
                    driver.observe(ended, its_run_time)
        for driver, own in zip(drivers, answers, strict=True):
            own.append(driver.predict_by(job, run_time))
        run_times.append(run_time)
        # Pushed after the prediction: a job of 0 s is learnt from at the next instant, not at its
        # own.
        heappush(ends, (now + run_time, job.job_id, place, job, run_time))
    predicted = {
        title: Predicted(
            np.array([seconds for seconds, _ in own], np.int64),
            driver.rules,
            [rule for _, rule in own],
        )
        for title, driver, own in zip(predictors, drivers, answers, strict=True)
    }
    return TracePredictions(np.array(run_times, np.int64), predicted)


BASELINE = "requested-time"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scenario, its trace, and the predictors to evaluate, by title."""

    scenario: Scenario
    source: TraceSource
    predictors: dict[str, Predictor | Oracle]


def choose(
    path: Path,
    overrides: Sequence[str] = (),
    named: str = "",
    document: Document | None = None,
) -> Chosen:
    """Return the scenario's predictor, then the named ones, then the baseline.

    Each predictor has the seed that it would have in a run of the scenario. A choice that occurs
    twice is taken once.

    Parameters
    ----------
    named
        List in YAML without its brackets: names, or mappings with parameters, such as
        `last-two, {name: inflated, of: last-two, factor: 2}`.
    document
        Document of the scenario; None: that of its file.
    """
    if document is None:
        document = read_document(path)
    own = check_document(document, path, overrides)
    _check_files(own, ("trace", "predictor"))
    parts = assemble(own.scenario)
    predictors = {title(own.scenario.predictor): parts.predictor}
    for scenario in _scenarios(own, document, overrides, _listed(named)):
        # The first of equal titles stays: the baseline often is the scenario's own predictor.
        predictors.setdefault(title(scenario.predictor), assemble(scenario).predictor)
    return Chosen(own.scenario, parts.source, predictors)


def title(choice: Any) -> str:
    """Return the name of a choice, with its parameters that are not defaults."""
    given = []
    for name, field in type(choice).model_fields.items():
        value = getattr(choice, name)
        default = field.get_default(call_default_factory=True, validated_data={})
        shown = title(value) if isinstance(value, Choice) else _plain(value)
        # What is chosen by default is declared by its name alone.
        if name != choice.plugin_tag and default not in (value, shown):
            given.append(f"{name}={shown}")
    return f"{choice.plugin_name}({', '.join(given)})" if given else str(choice.plugin_name)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _listed(named: str) -> list[Any]:
    """Return the choices of a text."""
    document = parse_document(f"[{named}]")
    place = Place(f"--predictors {' '.join(named.split())}")
    if document.findings:
        raise InputError(replace(one, place=place, key="") for one in document.findings)
    return list(document.value)


def _scenarios(
    own: LoadedScenario, document: Document, overrides: Sequence[str], choices: Sequence[Any]
) -> list[Scenario]:
    """Return the scenario with each choice as its predictor, and with the baseline.

    The scenario has been validated, so that any fault is one of the choice.
    """
    scenarios: list[Scenario] = []
    findings: list[Finding] = []
    for choice in (*choices, BASELINE):
        text = choice if isinstance(choice, str) else json.dumps(choice)
        place = Place(f"--predictors {text}")
        change = (
            # An oracle is only used by planning off-line, and nothing is planned here.
            Setting(("simulation", "mode"), "online", place),
            Setting(("predictor",), choice, place),
        )
        try:
            loaded = check_document(document, own.path, (*overrides, *change), own.registry)
            _check_files(loaded, ("predictor",))
            scenarios.append(loaded.scenario)
        except InputError as error:
            findings += [replace(one, place=place) for one in error.findings]
    if findings:
        raise InputError(findings)
    return scenarios


def _check_files(loaded: LoadedScenario, keys: tuple[str, ...]) -> None:
    """Raise InputError for input files of some keys that do not exist."""
    missing = [one for one in missing_inputs(loaded, "error") if one.key.startswith(keys)]
    if missing:
        raise InputError(missing)


Floats = npt.NDArray[np.float64]

PERCENTILES = (5, 25, 50, 75, 95)
"""Percentiles of the accuracy."""

_NEAR = (0.75, 1.25)


@dataclass(frozen=True, slots=True)
class RuleFigures:
    """Number and share of predictions by a rule, and their mean absolute error in seconds."""

    rule: str
    jobs: int
    jobs_share: float | None
    mean_absolute_error_seconds: float | None


@dataclass(frozen=True, slots=True)
class PredictorFigures:
    """Figures of a predictor over all jobs; None without jobs.

    Attributes
    ----------
    under_share, over_share
        Shares of jobs that ran for longer, and for less, than predicted.
    near_share
        Share of jobs with an accuracy from 0.75 to 1.25.
    accuracy
        Accuracy at `PERCENTILES`, under `p5` and so on.
    """

    predictor: str
    jobs: int
    mean_absolute_error_seconds: float | None
    median_absolute_error_seconds: int | None
    under_share: float | None
    exact_share: float | None
    over_share: float | None
    near_share: float | None
    accuracy: dict[str, float | None]
    rules: tuple[RuleFigures, ...]


def predictor_figures(predictions: TracePredictions) -> list[PredictorFigures]:
    """Return the figures of each predictor, in their order."""
    return [
        _figures(title, predictions.run_times, predicted)
        for title, predicted in predictions.predicted.items()
    ]


def _figures(title: str, run_times: IntArray, predicted: Predicted) -> PredictorFigures:
    errors, accuracies = _errors(run_times, predicted), _accuracies(run_times, predicted)
    low, high = _NEAR
    rules = []
    for name in predicted.rules:
        its = np.array([rule == name for rule in predicted.rule], np.bool_)
        rules.append(RuleFigures(name, int(its.sum()), _share(its), _mean(errors[its])))
    return PredictorFigures(
        title,
        len(run_times),
        _mean(errors),
        int(_percentile(errors, 50)) if len(errors) else None,
        _share(run_times > predicted.seconds),
        _share(run_times == predicted.seconds),
        _share(run_times < predicted.seconds),
        _share((accuracies >= low) & (accuracies <= high)),
        {
            f"p{percent}": _percentile(accuracies, percent) if len(accuracies) else None
            for percent in PERCENTILES
        },
        tuple(rules),
    )


def _errors(run_times: IntArray, predicted: Predicted) -> IntArray:
    errors: IntArray = np.abs(run_times - predicted.seconds)
    return errors


def _accuracies(run_times: IntArray, predicted: Predicted) -> Floats:
    return run_times / predicted.seconds


def _mean(values: IntArray) -> float | None:
    # The sum of whole numbers is exact.
    return sum(values.tolist()) / len(values) if len(values) else None


def _share(those: npt.NDArray[np.bool_]) -> float | None:
    return int(those.sum()) / len(those) if len(those) else None


def _percentile(values: IntArray | Floats, percent: int) -> float:
    return float(np.sort(values)[nearest_rank(percent, len(values))])


_LEGEND = (
    "Nothing was dispatched: a job completes at its submit time plus its run time, and only then is"
    " it learnt from.",
    "Accuracy: run time / predicted run time. 1: right, more: under, less: over. Quantiles are by"
    " nearest rank.",
)


def evaluation_table(figures: Sequence[PredictorFigures]) -> Table:
    """Return a table in sections with a column for each predictor."""
    sections = [("all jobs", [list(row) for row in _rows(figures)])]
    for one in figures:
        if one.rules:
            sections.append((f"jobs by rule: {one.predictor}", _rule_rows(one, figures)))
    return Table(
        ["", *(one.predictor for one in figures)],
        [row for _, rows in sections for row in rows],
        "predictors",
        "Predictors",
        _LEGEND,
        words=1,
        sections=[title for title, rows in sections for _ in rows],
        heading=False,
    )


def evaluation_content(
    scenario: str, account: TraceAccount, figures: Sequence[PredictorFigures]
) -> dict[str, Any]:
    """Return the account of the trace and the exact figures of each predictor for JSON."""
    return {
        "scenario": scenario,
        "records": {
            "read": account.read,
            "skipped": dict(account.skipped),
            "clipped": dict(account.clipped),
            "changed": dict(account.changed),
            "submitted": account.submitted,
        },
        "predictors": [asdict(one) for one in figures],
    }


def values_table(figures: Sequence[PredictorFigures]) -> Table:
    """Return a table of exact values with a row for each predictor and figure, for CSV.

    `rule` is empty for the figures of all jobs.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in figures:
        # A long table, a row for each value: figures differ from predictor to predictor, as rules
        # do.
        values = asdict(one)
        title, accuracy, rules = (values.pop(name) for name in ("predictor", "accuracy", "rules"))
        values |= {f"accuracy_{name}": value for name, value in accuracy.items()}
        rows += ((title, "", name, value) for name, value in values.items())
        for rule in rules:
            by = rule.pop("rule")
            rows += ((title, by, name, value) for name, value in rule.items())
    columns = ("predictor", "rule", "figure", "value")
    return Table(columns, rows, "predictors", "Predictors")


def _rows(figures: Sequence[PredictorFigures]) -> Iterator[list[str]]:
    rows: list[tuple[str, Callable[[PredictorFigures], str]]] = [
        ("jobs", lambda one: f"{one.jobs:,}"),
        ("mean absolute error", lambda one: _minutes(one.mean_absolute_error_seconds)),
        ("median absolute error", lambda one: _minutes(one.median_absolute_error_seconds)),
        ("under: ran longer than predicted", lambda one: _percent(one.under_share)),
        ("exact", lambda one: _percent(one.exact_share)),
        ("over: predicted more", lambda one: _percent(one.over_share)),
        ("accuracy 0.75 to 1.25", lambda one: _percent(one.near_share)),
    ]
    for label, cell in rows:
        yield [label, *map(cell, figures)]
    for percent in PERCENTILES:
        name = f"p{percent}"
        yield [f"accuracy, {name}", *(_number(one.accuracy[name]) for one in figures)]


def _rule_rows(one: PredictorFigures, figures: Sequence[PredictorFigures]) -> list[list[str]]:
    """Return a line for each rule, with its share and mean absolute error below the predictor."""
    lines = []
    for rule in one.rules:
        cell = f"{_percent(rule.jobs_share)} ({_minutes(rule.mean_absolute_error_seconds)})"
        lines.append([rule.rule, *(cell if other is one else "" for other in figures)])
    return lines


def _minutes(seconds: float | None) -> str:
    return MISSING if seconds is None else f"{seconds / 60:,.1f} min"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.3f}"


FIGURES = ("accuracy.svg", "absolute-error.svg")


def draw(predictions: TracePredictions, folder: Path, *, force: bool) -> list[Path]:
    """Draw the distributions of accuracies and of absolute errors; nothing without jobs."""
    if not len(predictions.run_times):
        return []
    from hpcsched.report.figures.chart_parts import (  # noqa: PLC0415
        PALETTE,
        Look,
        sized,
        write_figure,
    )
    from hpcsched.report.figures.run_figures import distributions  # noqa: PLC0415

    colours = [PALETTE[name] for name in ("blue", "vermilion", "green", "orange", "purple")]
    looks = {
        title: Look(colours[k % len(colours)], k // len(colours) % 6)
        for k, title in enumerate(predictions.predicted)
    }
    about = (
        (_accuracies, "run time / predicted run time (right of 1: underestimated)"),
        (_errors, "absolute error, s"),
    )
    paths = [folder / name for name in FIGURES]
    for path, (values_of, title) in zip(paths, about, strict=True):
        values = {
            one: values_of(predictions.run_times, predicted).astype(np.float64)
            for one, predicted in predictions.predicted.items()
        }
        chart = distributions(values, looks, (title, "jobs at or below, %"))
        write_figure(sized(chart, (330, 190)), path, force=force)
    return paths
