"""Box plots: from the first to the third quartile, whiskers to the least and largest value.

There is a line at the median and a triangle at the mean. It is the form of figures 3 and 5 of
Galleguillos and others, Data-driven job dispatching in HPC systems (MOD 2017).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Box(NamedTuple):
    """A distribution as a box plot shows it.

    Attributes
    ----------
    least, largest
        Ends of the whiskers.
    lower, median, upper
        Quartiles.
    mean
        Arithmetic mean.
    """

    least: float
    lower: float
    median: float
    upper: float
    largest: float
    mean: float


def box_of(values: npt.NDArray[np.float64], weights: npt.NDArray[np.int64] | None = None) -> Box:
    """Return the box of weighted values.

    Parameters
    ----------
    values
        Values, `[K]`.
    weights
        Multiplicity of each value, `[K]`; None: 1 each.

    Returns
    -------
    Box
        Quartiles are by nearest rank; all fields are 0 without values.
    """
    if weights is None:
        weights = np.ones(len(values), np.int64)
    if not len(values):
        return Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    # Stable, so that equal values keep their order and results do not depend on the library.
    order = np.argsort(values, kind="stable")
    upto = weights[order].cumsum()
    # Nearest rank: the first value whose cumulative weight reaches the share. No value is
    # interpolated, so each quartile is one that a job had.
    at = np.searchsorted(upto, [upto[-1] * share for share in (0.25, 0.5, 0.75)])
    lower, median, upper = map(float, values[order[at]])
    mean = float((values * weights).sum() / upto[-1])
    return Box(float(values.min()), lower, median, upper, float(values.max()), mean)
