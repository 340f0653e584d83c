"""What was drawn from pools in a run: written as it happens, read back, and summed up."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.metrics.pools import pool_figures
from hpcsched.metrics.tables import Column
from hpcsched.results.files import POOLS
from hpcsched.results.record_file import RecordFile, transposed, whole
from hpcsched.results.schema import pools_schema
from hpcsched.results.tables import ParquetTable
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.pool_accounts import PoolAccounts
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.pool_draws import Amounts
from hpcsched.system.pools import next_change
from hpcsched.system.system import IntArray, System


class _Level(NamedTuple):
    """From second `time` on so much is drawn from and offered by the pools, `[P]` each."""

    time: int
    drawn: Amounts
    offered: Amounts


class PoolRecorder(Observer):
    """Writes `pools.parquet` into a folder: what is drawn and offered whenever either changes.

    The first row is of the first submission, the last of the last end. What starts and ends at one
    instant is one change. Equal runs give equal bytes. Raises InputError where the file cannot be
    written.
    """

    def __init__(self, folder: Path, system: System) -> None:
        self._file: RecordFile[_Level] = RecordFile(
            folder / POOLS, pools_schema(system), _level_columns
        )
        self._pools = system.pools
        self._accounts = PoolAccounts(system)
        self._drawn: Amounts = self._accounts.drawn
        self._now: int | None = None
        self._written: _Level | None = None

    def job_submitted(self, job: WaitingJob) -> None:
        """Take note of when it all begins."""
        if self._now is None:
            self._now = job.submit_time

    def job_started(self, job: RunningJob) -> None:
        """Add what a job draws."""
        self._pass_to(job.start_time)
        self._accounts.started(job.allocation, job.waiting.request)
        self._drawn = self._accounts.drawn

    def job_interrupted(self, interruption: Interruption) -> None:
        """Take off what a job drew that has lost a node."""
        self._pass_to(interruption.end_time)
        self._accounts.ended(interruption.allocation, interruption.job.request)
        self._drawn = self._accounts.drawn

    def job_ended(self, record: JobRecord) -> None:
        """Take off what a job drew that has ended; one that failed was interrupted before."""
        where, end = record.allocation, record.end_time
        if where is not None and end is not None and record.state != "failed":
            self._pass_to(end)
            self._accounts.ended(where, record.job.request)
            self._drawn = self._accounts.drawn

    def replayed(self, first_submit: int | None, times: IntArray, drawn: IntArray) -> None:
        """Take note of what was drawn from when on, `[L, P]`, where jobs began or ended.

        It all began with the first submission.
        """
        if self._now is None:
            self._now = first_submit
        for time, amounts in zip(times.tolist(), drawn.tolist(), strict=True):
            self._pass_to(time)
            self._drawn = tuple(amounts)

    def close(self) -> None:
        """Write the last row and finish the file."""
        if self._now is not None:
            self._file.add(self._level(self._now))
        self._file.close()

    def _pass_to(self, time: int) -> None:
        """Write what has changed before a time."""
        now = time if self._now is None else self._now
        while now < time:
            level = self._level(now)
            if self._written is None or level[1:] != self._written[1:]:
                self._file.add(level)
                self._written = level
            now = min(next_change(self._pools, now), time)
        self._now = now

    def _level(self, time: int) -> _Level:
        offered = tuple(pool.capacity_at(time) for pool in self._pools)
        return _Level(time, self._drawn, offered)


def pool_summary(folder: Path, system: System) -> dict[str, dict[str, Any]]:
    """Return what a summary says of each pool (see `PoolFigures`).

    Raises InputError where `pools.parquet` is damaged.
    """
    names = [pool.name for pool in system.pools]
    time, drawn, offered = pool_levels(folder, names)
    return {
        name: pool_figures(time, of_pool, cap)._asdict()
        for name, of_pool, cap in zip(names, drawn, offered, strict=True)
    }


def pool_levels(
    folder: Path, names: Sequence[str]
) -> tuple[Column, Sequence[Column], Sequence[Column]]:
    """Return the times at which anything changed, `[K]`, and what was drawn and offered from then.

    Both are `[P][K]`, by pool as named. Raises InputError where `pools.parquet` is damaged.
    """
    table = ParquetTable(folder / POOLS)
    columns = ["time", *(f"{what}.{name}" for what in ("drawn", "offered") for name in names)]
    parts = [np.concatenate(column) for column in zip(*table.batches(*columns), strict=True)]
    if not parts:
        parts = [np.empty(0, dtype=np.int64)] * len(columns)
    return parts[0], parts[1 : 1 + len(names)], parts[1 + len(names) :]


def _level_columns(levels: Sequence[_Level], schema: pa.Schema) -> list[pa.Array]:
    times, drawn, offered = transposed(levels)
    return [
        whole(times),
        *(
            pa.StructArray.from_arrays(
                [whole(column) for column in transposed(rows)], fields=list(schema.field(name).type)
            )
            for name, rows in (("drawn", drawn), ("offered", offered))
        ),
    ]
