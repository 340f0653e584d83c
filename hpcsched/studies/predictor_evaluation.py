"""Accuracy of run-time predictors on a trace, without dispatching."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.errors import InputError, Place, PluginError
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.prediction.predictor import Oracle, Prediction, Predictor, PredictorDriver
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import Scenario
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.document import Document, Override, Setting, parse_document, read_document
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
    own = _checked(document, path, overrides, ("trace", "predictor"))
    listed = parse_document(f"[{named}]")
    place = Place(f"--predictors {' '.join(named.split())}")
    findings = [replace(one, place=place, key="") for one in listed.findings]
    scenarios = [own]
    for choice in () if findings else (*listed.value, BASELINE):
        text = choice if isinstance(choice, str) else json.dumps(choice)
        place = Place(f"--predictors {text}")
        change = (
            # An oracle is only used by planning off-line, and nothing is planned here.
            Setting(("simulation", "mode"), "online", place),
            Setting(("predictor",), choice, place),
        )
        # The scenario has been validated, so that any fault is one of the choice.
        try:
            scenarios.append(_checked(document, path, (*overrides, *change), ("predictor",)))
        except InputError as error:
            findings += [replace(one, place=place) for one in error.findings]
    if findings:
        raise InputError(findings)
    predictors: dict[str, Predictor | Oracle] = {}
    for scenario in scenarios:
        # The first of equal titles stays: the baseline often is the scenario's own predictor.
        predictors.setdefault(title(scenario.predictor), assemble(scenario).predictor)
    return Chosen(own, assemble(own).source, predictors)


def _checked(
    document: Document, path: Path, overrides: Sequence[Override], keys: tuple[str, ...]
) -> Scenario:
    """Return a scenario after a check that the input files of some keys exist."""
    loaded = check_document(document, path, overrides)
    missing = [one for one in missing_inputs(loaded, "error") if one.key.startswith(keys)]
    if missing:
        raise InputError(missing)
    return loaded.scenario


def title(choice: Any) -> str:
    """Return the name of a choice, with its parameters that are not defaults."""
    given = []
    for name, field in type(choice).model_fields.items():
        value = getattr(choice, name)
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(value, Choice):
            shown = title(value)
        else:
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
        # What is chosen by default is declared by its name alone.
        if name != choice.plugin_tag and default not in (value, shown):
            given.append(f"{name}={shown}")
    return f"{choice.plugin_name}({', '.join(given)})" if given else str(choice.plugin_name)


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
    run_times = predictions.run_times
    return [_figures(title, run_times, one) for title, one in predictions.predicted.items()]


def _figures(title: str, run_times: IntArray, predicted: Predicted) -> PredictorFigures:
    jobs = len(run_times)
    errors: IntArray = np.abs(run_times - predicted.seconds)
    accuracies = run_times / predicted.seconds
    ranked = np.sort(errors), np.sort(accuracies)

    def share(those: npt.NDArray[np.bool_]) -> float | None:
        return int(those.sum()) / jobs if jobs else None

    its = [np.array([rule == name for rule in predicted.rule], bool) for name in predicted.rules]
    return PredictorFigures(
        title,
        jobs,
        _mean(errors),
        int(ranked[0][nearest_rank(50, jobs)]) if jobs else None,
        share(run_times > predicted.seconds),
        share(run_times == predicted.seconds),
        share(run_times < predicted.seconds),
        share((accuracies >= _NEAR[0]) & (accuracies <= _NEAR[1])),
        {
            f"p{percent}": float(ranked[1][nearest_rank(percent, jobs)]) if jobs else None
            for percent in PERCENTILES
        },
        tuple(
            RuleFigures(name, int(mask.sum()), share(mask), _mean(errors[mask]))
            for name, mask in zip(predicted.rules, its, strict=True)
        ),
    )


def _mean(values: IntArray) -> float | None:
    # The sum of whole numbers is exact.
    return sum(values.tolist()) / len(values) if len(values) else None


_LEGEND = (
    "Nothing was dispatched: a job completes at its submit time plus its run time, and only then is"
    " it learnt from.",
    "Accuracy: run time / predicted run time. 1: right, more: under, less: over. Quantiles are by"
    " nearest rank.",
)
_ROWS = (
    ("mean absolute error", "mean_absolute_error_seconds"),
    ("median absolute error", "median_absolute_error_seconds"),
    ("under: ran longer than predicted", "under_share"),
    ("exact", "exact_share"),
    ("over: predicted more", "over_share"),
    ("accuracy 0.75 to 1.25", "near_share"),
)
"""Labels of figures in the table."""


def evaluation_table(figures: Sequence[PredictorFigures]) -> Table:
    """Return a table in sections with a column for each predictor."""
    rows = [["jobs", *(f"{one.jobs:,}" for one in figures)]]
    rows += [
        [label, *(_shown(name, getattr(one, name)) for one in figures)] for label, name in _ROWS
    ]
    for percent in PERCENTILES:
        values = (one.accuracy[f"p{percent}"] for one in figures)
        rows.append([f"accuracy, p{percent}", *(_shown("accuracy", value) for value in values)])
    sections = [("all jobs", rows)]
    for one in figures:
        lines = []
        for rule in one.rules:
            error = _shown("seconds", rule.mean_absolute_error_seconds)
            cell = f"{_shown('share', rule.jobs_share)} ({error})"
            lines.append([rule.rule, *(cell if other is one else "" for other in figures)])
        if lines:
            sections.append((f"jobs by rule: {one.predictor}", lines))
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


def _shown(name: str, value: float | None) -> str:
    """Return a value in the unit that the end of its name says."""
    if value is None:
        return MISSING
    if name.endswith("seconds"):
        return f"{value / 60:,.1f} min"
    return f"{100 * value:.1f} %" if name.endswith("share") else f"{value:,.3f}"


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
