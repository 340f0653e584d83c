"""A small network that scores queued jobs one by one, and its file."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.rules.job_features import FEATURES, FeatureRows
from hpcsched.errors import Finding, InputError, Place
from hpcsched.portable_math import expm1, of_each

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

    Raises
    ------
    ValueError
        If the shapes do not fit together, or a number is not finite.

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
        """Return the network in a file.

        Raises
        ------
        InputError
            It cannot be read, is damaged, or was made for other features.
        """

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
