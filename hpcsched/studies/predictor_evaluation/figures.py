"""Figures of predictors: errors, shares of under- and overestimates, and accuracies.

Accuracy is run time over predicted run time, as in section 4.1.2 of Galleguillos' thesis (2020): 1
is right, more is an underestimate and less an overestimate. Quantiles are by nearest rank.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hpcsched.studies.predictor_evaluation.predicting import IntArray, Predicted, TracePredictions

Floats = npt.NDArray[np.float64]

PERCENTILES = (5, 25, 50, 75, 95)
"""Percentiles of the accuracy."""

ACCURACIES: Sequence[float] = tuple(k / 100 for k in range(201))
"""Up to which the shares of jobs are told: the distribution from 0 to twice the prediction."""

ERRORS = (0, 1, 10, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400)
"""Where classes of absolute errors begin, in seconds; the last has no end, the first is of 0 s."""

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


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of jobs, by predictor; empty without jobs.

    Attributes
    ----------
    accuracy
        Share of jobs with an accuracy up to each of `ACCURACIES`.
    error
        Share of jobs in each class of absolute error.
    """

    accuracy: dict[str, tuple[float, ...]]
    error: dict[str, tuple[float, ...]]


def predictor_figures(predictions: TracePredictions) -> list[PredictorFigures]:
    """Return the figures of each predictor, in their order."""
    return [
        _figures(title, predictions.run_times, predicted)
        for title, predicted in predictions.predicted.items()
    ]


def shares(predictions: TracePredictions) -> Shares:
    """Return the distributions of accuracies and absolute errors."""
    run_times = predictions.run_times
    count = len(run_times)
    accuracy, error = {}, {}
    for title, predicted in predictions.predicted.items() if count else ():
        # Exact shares of the jobs, not of bins: equal runs give equal files to the last digit.
        ascending = np.sort(_accuracies(run_times, predicted))
        upto = np.searchsorted(ascending, ACCURACIES, side="right")
        accuracy[title] = tuple((upto / count).tolist())
        classes = np.searchsorted(ERRORS, _errors(run_times, predicted), side="right") - 1
        counts = np.bincount(classes, minlength=len(ERRORS))
        error[title] = tuple((counts / count).tolist())
    return Shares(accuracy, error)


def _figures(title: str, run_times: IntArray, predicted: Predicted) -> PredictorFigures:
    errors, accuracies = _errors(run_times, predicted), _accuracies(run_times, predicted)
    low, high = _NEAR
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
            f"p{percent}": float(_percentile(accuracies, percent)) if len(accuracies) else None
            for percent in PERCENTILES
        },
        tuple(_rules(errors, predicted)),
    )


def _rules(errors: IntArray, predicted: Predicted) -> Iterator[RuleFigures]:
    for number, name in enumerate(predicted.rules):
        its = predicted.rule == number
        yield RuleFigures(name, int(its.sum()), _share(its), _mean(errors[its]))


def _errors(run_times: IntArray, predicted: Predicted) -> IntArray:
    errors: IntArray = np.abs(run_times - predicted.seconds)
    return errors


def _accuracies(run_times: IntArray, predicted: Predicted) -> Floats:
    return run_times / predicted.seconds


def _mean(values: IntArray) -> float | None:
    # The sum is exact; that of floats would depend on how they are grouped.
    return sum(values.tolist()) / len(values) if len(values) else None


def _share(those: npt.NDArray[np.bool_]) -> float | None:
    return int(those.sum()) / len(those) if len(those) else None


def _percentile(values: IntArray | Floats, percent: int) -> float:
    ascending = np.sort(values)
    # Nearest rank, ceil(p n / 100), in whole numbers: 0.07 * 100 is above 7 as a float.
    return float(ascending[max(0, -(-percent * len(values) // 100) - 1)])
