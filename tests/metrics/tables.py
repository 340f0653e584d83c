"""Tables in memory, and jobs and rounds to fill them with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from hpcsched.metrics.metric import Column


@dataclass(frozen=True)
class MemoryTable:
    """Columns in memory, given out `batch` rows at a time."""

    columns: Mapping[str, Sequence[Any]]
    batch: int = 3

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns."""
        rows = len(next(iter(self.columns.values())))
        for first in range(0, rows, self.batch):
            yield tuple(
                np.array(self.columns[name][first : first + self.batch]) for name in columns
            )


class Ran(NamedTuple):
    """A job that ran: it waited, ran, and asked for so many units of one core."""

    submit: int
    wait: int
    run_time: int
    units: int

    @property
    def response(self) -> int:
        """Wait time and run time."""
        return self.wait + self.run_time


TIMES = st.one_of(st.integers(0, 20), st.integers(0, 10**7))
RAN = st.lists(st.builds(Ran, TIMES, TIMES, TIMES, st.integers(1, 10**5)), max_size=12)


def jobs_table(jobs: Sequence[Ran], batch: int = 3) -> MemoryTable:
    """Return jobs as a table with the columns that metrics read."""
    return MemoryTable(
        {
            "submit_time": [j.submit for j in jobs],
            "start_time": [j.submit + j.wait for j in jobs],
            "end_time": [j.submit + j.response for j in jobs],
            "run_time": [j.run_time for j in jobs],
            "units": [j.units for j in jobs],
            "unit_request.core": [1 for _ in jobs],
            "demand": [j.units for j in jobs],
        },
        batch,
    )


def rounds_table(rounds: Sequence[tuple[int, int, int]], batch: int = 3) -> MemoryTable:
    """Return rounds (instant, cores waited for, cores free) as a table; they take no time."""
    now, waiting, free = zip(*rounds, strict=True) if rounds else ((), (), ())
    return MemoryTable(
        {
            "now": now,
            "waiting_amounts.core": waiting,
            "free_amounts.core": free,
            "latency": [0] * len(now),
            "lost_amounts.core": [0.0] * len(now),
        },
        batch,
    )
