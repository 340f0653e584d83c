"""A queue order by the scores of a learned policy."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hpcsched import (
    DispatchingProblem,
    Finding,
    InputError,
    Place,
    PluginError,
    Request,
    WaitingJob,
)
from hpcsched.portable_math import expm1, log1p, of_each
from hpcsched.system.space import units_that_fit
from hpcsched_learned.params import WINDOW

FeatureRows = npt.NDArray[np.float32]

FEATURES = (
    "wait",
    "predicted_run_time",
    "requested_time",
    "share",
    "fits_now",
    "free_share",
    "queue_length",
    "present",
)
"""Names of the features, in the order of the columns; all are from 0 to 1."""

_HOUR = 3600
_LONGEST = log1p(30 * 86_400)


def job_features(problem: DispatchingProblem, window: int) -> FeatureRows:
    """Return the features of the first queued jobs, in order of arrival.

    They are close to those of RLScheduler (Zhang et al., SC 2020, section IV-B): a wait `w` in
    seconds is `w / (w + 3600)`; a time `t` is `log(1 + t)` as a share of that of 30 days; the share
    of the system is that of the resource type of which the job requests most; the free share is
    that of the resource type of which least is free; a queue of `n` jobs has `n / (n + window)`.

    Returns
    -------
    FeatureRows
        `[window, len(FEATURES)]`; rows without a job are 0.
    """
    rows = np.zeros((window, len(FEATURES)), dtype=np.float32)
    totals = problem.system.totals
    free = _free_amounts(problem)
    free_share = min(f / t for f, t in zip(free, totals, strict=True) if t)
    length = len(problem.queue) / (len(problem.queue) + window)
    # Many jobs have equal requests.
    known: dict[Request, tuple[float, bool]] = {}
    seen = []
    for job in problem.queue[:window]:
        request, wait = job.request, problem.now - job.submit_time
        if request not in known:
            asked = zip(job.unit_request, totals, strict=True)
            share = max(job.units * amount / total for amount, total in asked if total)
            known[request] = share, _fits_now(problem, request, free)
        predicted, requested = job.predicted_run_time, job.job.requested_time
        times = wait / (wait + _HOUR), _as_share(predicted), _as_share(requested)
        seen.append((*times, *known[request], free_share, length, 1))
    if seen:
        rows[: len(seen)] = seen
    return rows


@lru_cache(maxsize=1 << 16)
def _as_share(seconds: int) -> float:
    return min(log1p(seconds) / _LONGEST, 1.0)


def _free_amounts(problem: DispatchingProblem) -> list[int]:
    """Return the free amount of each resource type, `[R]`."""
    return [int(amount) for amount in problem.free_amounts.sum(axis=1)]


def _fits_now(problem: DispatchingProblem, request: Request, free: list[int]) -> bool:
    if problem.free_units is not None:
        return request.units <= problem.free_units
    needed = (request.units * amount for amount in request.unit_request)
    if any(amount > there for amount, there in zip(needed, free, strict=True)):
        return False
    fit = units_that_fit(problem.system, problem.free_amounts, request)
    return int(fit.sum()) >= request.units


FORMAT = 1

Array = npt.NDArray[np.float64]


class ScoringNetwork:
    """Network that gives each job a score from its own features, with the same weights for all.

    This is the kernel-based policy network of RLScheduler (Zhang et al., SC 2020, section IV-C): it
    does not depend on the place of a job in the queue. Between layers stands the hyperbolic
    tangent. Without hidden layers it is a weighted sum.

    Parameters
    ----------
    layers
        Weights `[I, O]` and biases `[O]` of each layer; the first has as many inputs as there are
        `FEATURES`, the last one output.

    Examples
    --------
    Short jobs first:

    >>> weights = np.zeros((len(FEATURES), 1))
    >>> weights[FEATURES.index("predicted_run_time")] = -1
    >>> network = ScoringNetwork([(weights, np.zeros(1))])
    """

    def __init__(self, layers: Sequence[tuple[Any, Any]]) -> None:
        self.layers = [
            (np.asarray(weights, dtype=np.float64), np.asarray(biases, dtype=np.float64))
            for weights, biases in layers
        ]
        inputs = len(FEATURES)
        for number, (weights, biases) in enumerate(self.layers, start=1):
            if weights.ndim != 2 or weights.shape[0] != inputs or biases.shape != weights.shape[1:]:
                raise ValueError(
                    f"layer {number}: expected weights [{inputs}, O] and biases [O], found shapes"
                    f" {list(weights.shape)} and {list(biases.shape)}"
                )
            if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
                raise ValueError(f"layer {number}: a weight or bias is not a finite number")
            inputs = weights.shape[1]
        if not self.layers or inputs != 1:
            raise ValueError(f"expected a last layer with one output, found {inputs}")

    @classmethod
    def of_parameters(cls, parameters: Any, hidden: Sequence[int] = ()) -> Self:
        """Return a network of a flat list of numbers, as optimisers have them."""
        sizes = (len(FEATURES), *hidden, 1)
        numbers, layers = np.asarray(parameters, dtype=np.float64), []
        if numbers.shape != (parameter_count(hidden),):
            message = f"expected {parameter_count(hidden)} numbers, found shape {numbers.shape}"
            raise ValueError(message)
        for rows, columns in pairwise(sizes):
            weights, biases, numbers = np.split(numbers, [rows * columns, (rows + 1) * columns])
            layers.append((weights.reshape(rows, columns), biases))
        return cls(layers)

    def __call__(self, features: FeatureRows) -> Array:
        """Return the score of each job, `[window]`."""
        values: Array = features.astype(np.float64)
        for weights, biases in self.layers[:-1]:
            values = of_each(_tanh, _product(values, weights) + biases)
        weights, biases = self.layers[-1]
        scores: Array = (_product(values, weights) + biases)[:, 0]
        return scores

    def save(self, path: str | Path) -> None:
        """Write the network to a NumPy file (`.npz`)."""
        arrays: dict[str, Any] = {"format": np.array(FORMAT), "features": np.array(FEATURES)}
        for number, (weights, biases) in enumerate(self.layers):
            arrays |= {f"weights_{number}": weights, f"biases_{number}": biases}
        with Path(path).open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the network in a file."""

        def refused(message: str) -> InputError:
            return InputError(Finding("bad-policy", message, Place(str(path))))

        try:
            with np.load(path, allow_pickle=False) as arrays:
                content = {name: arrays[name] for name in arrays.files}
        except OSError as error:
            raise refused(f"it cannot be read: {error.strerror or error}") from None
        except Exception as error:  # NumPy and zipfile have many for what is not such a file
            raise refused(f"it is no policy: {error}") from None
        if int(content.get("format", np.array(0))) != FORMAT:
            raise refused(f"expected a policy of format {FORMAT}")
        features = tuple(content.get("features", np.array(())).tolist())
        if features != FEATURES:
            raise refused(
                f"expected a policy for the features {', '.join(FEATURES)};"
                f" found one for {', '.join(features) or 'none'}"
            )
        count = sum(name.startswith("weights_") for name in content)
        try:
            return cls([(content[f"weights_{k}"], content[f"biases_{k}"]) for k in range(count)])
        except (KeyError, ValueError) as error:
            raise refused(f"it is damaged: {error}") from None


def parameter_count(hidden: Sequence[int] = ()) -> int:
    """Return the number of weights and biases of a network.

    Examples
    --------
    >>> parameter_count(), parameter_count([4])
    (9, 41)
    """
    sizes = (len(FEATURES), *hidden, 1)
    return sum((rows + 1) * columns for rows, columns in pairwise(sizes))


def _product(values: Array, weights: Array) -> Array:
    """Return the product of matrices; BLAS adds in another order on another processor."""
    found: Array = (values[:, :, np.newaxis] * weights).sum(axis=1)
    return found


def _tanh(x: float) -> float:
    grown = expm1(-2 * abs(x))
    return -grown / (2 + grown) * (1 if x > 0 else -1)


Score = Callable[[FeatureRows], Any]
"""Returns the score of each row of features, `[window]`."""


class PolicyOrder:
    """Order by the scores of a policy, the highest first; jobs beyond its window come after these.

    The policy sees `job_features`, once in each round in which the order matters: with two jobs or
    more. Equal scores, and jobs beyond the window, are in order of arrival.

    Parameters
    ----------
    score
        The policy; None: order of arrival.
    """

    def __init__(self, score: Score | None, window: int = WINDOW) -> None:
        self.score = score
        self.window = window

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by descending score."""
        seen = problem.queue[: self.window]
        if self.score is None or len(seen) < 2:
            return problem.queue
        scores = np.asarray(self.score(job_features(problem, self.window)))[: len(seen)]
        if not np.isfinite(scores).all():
            raise PluginError("the policy has given a score that is not a finite number")
        order = np.argsort(-scores, kind="stable").tolist()
        return [*(seen[place] for place in order), *problem.queue[self.window :]]
