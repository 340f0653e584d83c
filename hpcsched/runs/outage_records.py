"""Outages of a run and the attempts lost to them: recording, reading, and figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hpcsched.arrow_arrays import computed, numpy_array
from hpcsched.metrics.metric import DownAmounts
from hpcsched.runs.columns import outages_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import OUTAGES
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.outages import Outage, Outages, down_time
from hpcsched.system.system import System


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
    table = ParquetTable(path).read(*outages_schema().names)
    starts, ends, kinds, names, nodes = (table[name].to_pylist() for name in outages_schema().names)
    rows = zip(starts, ends, nodes, kinds, names, strict=True)
    return tuple([Outage(start, end, tuple(on), *what) for start, end, on, *what in rows])


class OutagesBeside(NamedTuple):
    """Outages of a run that touch none of its jobs.

    Attributes
    ----------
    outages
        First start and last end of an outage, in seconds since the origin of the trace.
    jobs
        First submission and last end of a job, in the same seconds.
    """

    number: int
    outages: tuple[int, int]
    jobs: tuple[int, int]


def outages_beside_jobs(run: RunDirectory) -> OutagesBeside | None:
    """Return the spans of outages and jobs, if all outages are before or after all jobs.

    Returns
    -------
    OutagesBeside | None
        None if an outage touches the jobs, or there are no outages or no jobs.
    """
    path = run.path / OUTAGES
    if not path.is_file():
        return None
    outages = ParquetTable(path).read("start_time", "end_time").select(["start_time", "end_time"])
    jobs = run.all_jobs.read("submit_time", "end_time")
    if not outages.num_rows or not jobs.num_rows:
        return None
    first, last = computed("min_max", jobs["submit_time"]).as_py().values()
    # Without a job that ran the largest end time is null.
    last = max(last, computed("min_max", jobs["end_time"]).as_py()["max"] or 0)
    starts, ends = (numpy_array(column.combine_chunks()) for column in outages.columns)
    if ((starts <= last) & (ends > first)).any():
        return None
    span = int(starts.min()), int(ends.max())
    return OutagesBeside(outages.num_rows, span, (first, last))


def down_amounts(outages: Outages, system: System) -> dict[str, DownAmounts]:
    """Return the amounts out of service over time, by resource type."""
    down = down_time(outages.all)
    amounts = system.capacity[down.node]
    return {
        name: DownAmounts(down.start, down.end, amounts[:, r])
        for r, name in enumerate(system.resource_types)
    }


def outage_figures(
    interruptions: Sequence[pa.Table], outages: Outages, system: System
) -> dict[str, Any]:
    """Return the summary's figures of outages.

    Parameters
    ----------
    interruptions
        Parts of the table of lost attempts, with the columns of `interruptions.parquet`.

    Returns
    -------
    dict
        - `interruptions`: number of lost attempts, of which `requeued` went back into the queue.
        - `lost_time`: their run time, in seconds; `lost_node_seconds`: the same summed over nodes.
        - `lost_amounts`: amounts that they asked for × time, by resource type.
        - `node_seconds_down`: time out of service summed over nodes, by kind of outage, also beyond
          the end of the run.
        - `node_failures`: counts of the records of a log that tells failures, if there is one.
    """
    rows = [row for part in interruptions for row in part.to_pylist()]
    seconds = [row["end_time"] - row["start_time"] for row in rows]
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
        **({"node_failures": dict(outages.told)} if outages.told else {}),
    }


def _down_by_kind(outages: Outages) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind in sorted({outage.kind for outage in outages.all}):
        down = down_time(outage for outage in outages.all if outage.kind == kind)
        found[kind] = int(np.sum(down.end - down.start))
    return found
