"""The value of the objective over a window of jobs that were replayed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpcsched.dispatching.hyper.past import Window
from hpcsched.dispatching.objective import Objective
from hpcsched.errors import Finding, InputError
from hpcsched.metrics.tables import Column
from hpcsched.system.system import IntArray


@dataclass(frozen=True, slots=True)
class ReplayedJobs:
    """The jobs of a window as a table that objectives measure."""

    columns: Mapping[str, Any]

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns; raises InputError where a replay of the past lacks one."""
        for column in columns:
            if column not in self.columns:
                message = (
                    f"the objective looks at {column!r} of jobs, which hyper does not know of those"
                    f" that it replays; expected one that looks at no more than"
                    f" {', '.join(self.columns)}"
                )
                raise InputError(Finding("objective-not-replayed", message, key="objective"))
        yield tuple(self.columns[column] for column in columns)


def score(objective: Objective, window: Window, starts: IntArray) -> float:
    """Return the objective over the jobs of a window that start at `starts`, `[W]`.

    Jobs that have not started by now count as if they started now: of later starts nothing is
    known, since jobs that are yet to come may change them.
    """
    starts = np.minimum(starts, window.now)
    value = objective.measure(
        ReplayedJobs(
            {
                "submit_time": window.submit_times,
                "start_time": starts,
                "end_time": starts + window.run_times,
                "run_time": window.run_times,
                "wait_time": starts - window.submit_times,
                "demand": _numbers(window.demands),
            }
        )
    )
    return np.inf if value is None else float(value)


def _numbers(values: Any) -> Any:
    """Return whole numbers as integers of 64 bits where they fit, and as floats otherwise."""
    numbers = np.array(values)
    return numbers.astype(np.float64) if numbers.dtype == object else numbers
