"""Outages and shared resources of a run over time: recording, reading, and figures."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.metrics.capacity import OverTime, time_mean
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric import Column, DownAmounts
from hpcsched.runs.columns import outages_schema, shared_resources_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import OUTAGES, SHARED_RESOURCES
from hpcsched.runs.recorder import RecordFile
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.outages import Outage, Outages, down_time
from hpcsched.system.shared_resources import next_change
from hpcsched.system.space import Amounts
from hpcsched.system.system import IntArray, System
from hpcsched.workload.preemption import Checkpoints


def write_outages(folder: Path, outages: Outages) -> None:
    """Write `outages.parquet`: all outages, drawn failures included."""
    file: RecordFile[tuple[object, ...]] = RecordFile(
        folder / OUTAGES, outages_schema(), repetitive=["kind", "name"]
    )
    for start, end, nodes, kind, name in outages.all:
        file.add((start, end, kind, name, nodes))
    file.close()


def recorded_outages(run: RunDirectory) -> tuple[Outage, ...]:
    """Return the outages of a run, by start; empty without outages."""
    path = run.path / OUTAGES
    if not path.is_file():
        return ()
    rows = ParquetTable(path).whole().to_pylist()
    return tuple(
        Outage(row["start_time"], row["end_time"], tuple(row["nodes"]), row["kind"], row["name"])
        for row in rows
    )


def down_amounts(outages: Outages, system: System) -> dict[str, DownAmounts]:
    """Return the amounts out of service over time, by resource type."""
    down = down_time(outages.all)
    amounts = system.capacity[down.node]
    return {
        name: DownAmounts(down.start, down.end, amounts[:, r])
        for r, name in enumerate(system.resource_types)
    }


def outage_figures(interruptions: pa.Table, outages: Outages, system: System) -> dict[str, Any]:
    """Return the summary's figures of outages, from the rows of `interruptions.parquet`.

    Times are in seconds; `node_seconds_down` also counts what lies beyond the end of the run.
    """
    rows = [row for row in interruptions.to_pylist() if row["preempted_by"] is None]
    seconds = [row["lost_time"] for row in rows]
    lost = [
        sum(s * row["units"] * row["unit_request"][r] for s, row in zip(seconds, rows, strict=True))
        for r in range(len(system.resource_types))
    ]
    return {
        "interruptions": len(rows),
        "requeued": sum(row["requeued"] for row in rows),
        "lost_time": sum(seconds),
        "lost_node_seconds": sum(
            s * len(row["nodes"]) for s, row in zip(seconds, rows, strict=True)
        ),
        "lost_amounts": dict(zip(system.resource_types, lost, strict=True)),
        "node_seconds_down": _down_by_kind(outages),
    }


def preemption_figures(interruptions: pa.Table) -> dict[str, int]:
    """Return the summary's figures of preemption, from the rows of `interruptions.parquet`.

    Times are in seconds, without the work that checkpoints saved.
    """
    rows = [row for row in interruptions.to_pylist() if row["preempted_by"] is not None]
    suspended = [row for row in rows if row["suspended"]]
    return {
        "preemptions": len(rows),
        "requeued": sum(row["requeued"] for row in rows),
        "cancelled": sum(not (row["requeued"] or row["suspended"]) for row in rows),
        "suspended": len(suspended),
        "suspended_time": sum(row["end_time"] - row["start_time"] for row in suspended),
        "lost_time": sum(row["lost_time"] for row in rows),
        "lost_node_seconds": sum(row["lost_time"] * len(row["nodes"]) for row in rows),
    }


def goodput(
    jobs: pa.Table, interruptions: pa.Table, checkpoints: Checkpoints | None
) -> float | None:
    """Return the share of the node-seconds that jobs ran which their work needed; None without any.

    Not needed were attempts that were lost, as far as checkpoints did not save their work, and the
    time to write and to read checkpoints.
    """
    ran = useful = 0
    saved: Counter[int] = Counter()
    for row in interruptions.to_pylist():
        if row["requeued"]:
            seconds, kept = row["run_time"], row["run_time"] - row["lost_time"]
            saved[row["job_id"]] += kept
            ran += seconds * len(row["nodes"])
            useful += kept * len(row["nodes"])
    columns = jobs.select(["job_id", "state", "run_time", "nodes"]).to_pylist()
    for job_id, state, seconds, nodes in (row.values() for row in columns):
        if seconds is None:
            continue
        ran += seconds * len(nodes)
        if state in ("completed", "killed"):
            work = seconds
            if checkpoints is not None:
                work = checkpoints.work(seconds, restarts=saved[job_id] > 0)
            useful += work * len(nodes)
    return useful / ran if ran else None


def _down_by_kind(outages: Outages) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind in sorted({outage.kind for outage in outages.all}):
        down = down_time(outage for outage in outages.all if outage.kind == kind)
        found[kind] = int(np.sum(down.end - down.start))
    return found


class _Level(NamedTuple):
    """Amounts drawn and offered from second `time` on, `[P]` each."""

    time: int
    drawn: Amounts
    offered: Amounts


class SharedResourceRecorder:
    """Writer of `shared_resources.parquet`: a row for each change of an amount.

    The first row is of the first submission, the last of the last end. Starts and ends of one
    instant are one change. Equal runs give equal bytes.
    """

    def __init__(self, folder: Path, system: System) -> None:
        path = folder / SHARED_RESOURCES
        self._path = path
        self._file: RecordFile[_Level] = RecordFile(path, shared_resources_schema(system))
        self._shared_resources = system.shared_resources
        self._drawn: Amounts = (0,) * len(system.shared_resources)
        self._now: int | None = None
        self._written: _Level | None = None

    def replayed(self, first_submit: int | None, times: IntArray, drawn: IntArray) -> None:
        """Record a part of a replay: amounts drawn, `[L, P]`, from some seconds on, `[L]`.

        The time series begins at the first submission.
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

    def figures(self) -> dict[str, dict[str, Any]]:
        """Return the summary's figures of each shared resource (see `SharedResourceFigures`)."""
        names = [resource.name for resource in self._shared_resources]
        time, drawn, offered = shared_levels(self._path.parent, names)
        return {
            name: shared_resource_figures(time, of_resource, cap)._asdict()
            for name, of_resource, cap in zip(names, drawn, offered, strict=True)
        }

    def _pass_to(self, time: int) -> None:
        """Write the changes before a time."""
        now = time if self._now is None else self._now
        while now < time:
            level = self._level(now)
            # Only changes are written; `close` adds the last second.
            if self._written is None or level[1:] != self._written[1:]:
                self._file.add(level)
                self._written = level
            # A shared resource's own change of capacity is a row too.
            now = min(next_change(self._shared_resources, now), time)
        self._now = now

    def _level(self, time: int) -> _Level:
        offered = tuple(resource.capacity_at(time) for resource in self._shared_resources)
        return _Level(time, self._drawn, offered)


def shared_levels(
    folder: Path, names: Sequence[str]
) -> tuple[Column, Sequence[Column], Sequence[Column]]:
    """Read the time series of shared resources.

    Returns
    -------
    time
        Seconds of the changes, `[K]`.
    drawn, offered
        Amounts from then on, `[P][K]`.
    """
    table = ParquetTable(folder / SHARED_RESOURCES)
    columns = ["time", *(f"{what}.{name}" for what in ("drawn", "offered") for name in names)]
    parts = [np.concatenate(column) for column in zip(*table.batches(*columns), strict=True)]
    if not parts:
        parts = [np.empty(0, dtype=np.int64)] * len(columns)
    return parts[0], parts[1 : 1 + len(names)], parts[1 + len(names) :]


class SharedResourceFigures(NamedTuple):
    """Consumption of a shared resource by all jobs that ran, from first submission to last end.

    Attributes
    ----------
    energy
        Integral over time, in the shared resource's unit × seconds: joules if the unit is the watt.
    mean
        Mean draw, in the shared resource's unit; None without duration.
    peak
        Largest draw, in the shared resource's unit.
    over_cap_time
        Seconds with a draw above the capacity.
    over_cap_peak
        Largest excess, in the shared resource's unit.
    """

    energy: int
    mean: float | None
    peak: int
    over_cap_time: int
    over_cap_energy: int
    over_cap_peak: int


def shared_resource_figures(
    instants: Column, drawn: Column, offered: Column
) -> SharedResourceFigures:
    """Return the consumption of a shared resource from its draw and capacity over time.

    `drawn` and `offered` hold from each instant on; the last instant is the end, `[K]` each.
    """
    seconds = np.diff(instants)
    levels: Column = drawn[:-1]
    over = np.maximum(levels - offered[:-1], 0)
    floats: FloatColumn = levels.astype(np.float64)
    return SharedResourceFigures(
        _sum(levels, seconds),
        time_mean(OverTime(instants, floats)),
        int(levels.max(initial=0)),
        int(seconds[over > 0].sum()),
        _sum(over, seconds),
        int(over.max(initial=0)),
    )


def _sum(levels: Column, seconds: Column) -> int:
    """Return Σ level × seconds, exactly."""
    return sum(a * b for a, b in zip(levels.tolist(), seconds.tolist(), strict=True))
