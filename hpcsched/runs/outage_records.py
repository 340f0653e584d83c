"""Outages of a run and the attempts lost to them: recording, reading, and figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

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
    """Return the summary's figures of outages.

    Parameters
    ----------
    interruptions
        The lost attempts, with the columns of `interruptions.parquet`.

    Returns
    -------
    dict
        - `interruptions`: number of lost attempts, of which `requeued` went back into the queue.
        - `lost_time`: their run time, in seconds; `lost_node_seconds`: the same summed over nodes.
        - `lost_amounts`: amounts that they asked for × time, by resource type.
        - `node_seconds_down`: time out of service summed over nodes, by kind of outage, also beyond
          the end of the run.
    """
    rows = interruptions.to_pylist()
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
    }


def _down_by_kind(outages: Outages) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind in sorted({outage.kind for outage in outages.all}):
        down = down_time(outage for outage in outages.all if outage.kind == kind)
        found[kind] = int(np.sum(down.end - down.start))
    return found
