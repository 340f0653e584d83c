"""Means and standard deviations of what a run's jobs came to."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.runs.directory import RunDirectory

Values = npt.NDArray[np.float64]


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


ServedRuns = Mapping[tuple[str, str], Served]
"""How jobs were served, by labels of dispatcher and predictor of the run."""


def read_served(run: RunDirectory) -> Served:
    """Return how the jobs of a run were served.

    Raises InputError where the run's file is damaged.
    """
    columns = ("submit_time", "start_time", "end_time")
    table = run.jobs.read(*columns)
    table = table.filter(table["start_time"].is_valid())
    submits, starts, ends = (table[name].to_numpy().astype(np.int64) for name in columns)
    ran = ends > starts
    slowdowns = (ends - submits)[ran] / (ends - starts)[ran]
    return Served(len(submits), spread_of(slowdowns), spread_of((starts - submits).astype(float)))


def spread_of(values: Values) -> Spread:
    """Return mean and standard deviation (of the population) of values."""
    if not len(values):
        return Spread(np.nan, np.nan)
    return Spread(float(values.mean()), float(values.std()))
