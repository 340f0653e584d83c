"""Means and standard deviations of what a run's jobs came to."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from comparisons.distributions import HOUR
from hpcsched.runs.directory import RunDirectory

Values = npt.NDArray[np.float64]

CLASSES: Mapping[str, tuple[float, float]] = {
    "short": (0, HOUR),
    "medium": (HOUR, 5 * HOUR),
    "long": (5 * HOUR, np.inf),
}
"""Classes of jobs by run time in s: above so much, up to so much (thesis, section 2.1.4)."""


class Spread(NamedTuple):
    """A mean over jobs, and the standard deviation; nan where there is no job."""

    mean: float
    deviation: float


class Served(NamedTuple):
    """How jobs were served: how many they are, their slowdowns, and their wait times in s.

    Slowdowns are those of jobs that ran for at least 1 s.
    """

    jobs: int
    slowdown: Spread
    wait_time: Spread


ServedRuns = Mapping[tuple[str, str], Mapping[str, Served]]
"""How the jobs of each class were served, by labels of dispatcher and predictor of the run."""


def read_served(run: RunDirectory) -> Mapping[str, Served]:
    """Return how the jobs of each class were served, and `all` together.

    Raises InputError where the run's file is damaged.
    """
    columns = ("submit_time", "start_time", "end_time")
    table = run.jobs.read(*columns)
    table = table.filter(table["start_time"].is_valid())
    submits, starts, ends = (table[name].to_numpy().astype(np.int64) for name in columns)
    run_times = ends - starts
    found = {"all": _served(submits, starts, ends)}
    for name, (above, upto) in CLASSES.items():
        these = (run_times > above) & (run_times <= upto)
        found[name] = _served(submits[these], starts[these], ends[these])
    return found


def _served(
    submits: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> Served:
    ran = ends > starts
    slowdowns = (ends - submits)[ran] / (ends - starts)[ran]
    return Served(len(submits), spread_of(slowdowns), spread_of((starts - submits).astype(float)))


def spread_of(values: Values) -> Spread:
    """Return mean and standard deviation (of the population) of values."""
    if not len(values):
        return Spread(np.nan, np.nan)
    return Spread(float(values.mean()), float(values.std()))
