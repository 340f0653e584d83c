"""Attempts to run a job that were lost to outages, as arrays."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hpcsched.audit.columns import BoolArray, RunColumns, places_in, whole_numbers
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import IntArray
from hpcsched.whole_files import problem


@dataclass(frozen=True, slots=True)
class LostColumns:
    """Rows of `interruptions.parquet`, `[I]`; places as in `RunColumns`."""

    job_id: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    places: IntArray
    node: IntArray
    node_units: IntArray

    @property
    def place_row(self) -> IntArray:
        """Row of each place, `[P]`."""
        return np.repeat(np.arange(len(self.places)), self.places)


def lost_columns(
    numbers: list[tuple[int, int, int, bool]], nodes: list[list[int]], units: list[list[int]]
) -> LostColumns:
    """Build the arrays of lost attempts."""
    rows = np.array(numbers, dtype=np.int64).reshape(len(numbers), 4)
    job_id, start, end, requeued = rows.T
    return LostColumns(
        job_id,
        start,
        end,
        requeued.astype(np.bool_),
        np.array([len(of_one) for of_one in nodes], dtype=np.int64),
        np.array([node for of_one in nodes for node in of_one], dtype=np.int64),
        np.array([count for of_one in units for count in of_one], dtype=np.int64),
    )


def read_lost(run: RunDirectory) -> LostColumns:
    """Read the lost attempts of a run.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = run.path / INTERRUPTIONS
    if not path.is_file():
        return lost_columns([], [], [])
    numbers = ("job_id", "start_time", "end_time")
    table = ParquetTable(path).read(*numbers, "requeued", "nodes", "node_units")
    places, unpaired, node, node_units = places_in(table)
    if unpaired.any():
        raise problem("damaged-file", path, "it is damaged: units do not match nodes")
    return LostColumns(
        **{name: whole_numbers(table[name]) for name in numbers},
        requeued=table["requeued"].to_numpy(),
        places=places,
        node=node,
        node_units=node_units,
    )


def with_lost(run: RunColumns, lost: LostColumns) -> RunColumns:
    """Append a row for each lost attempt of a requeued job.

    Such a row equals its job's, with the state `requeued`. Attempts of unknown jobs are left out,
    and those of failed jobs too, since the run has their row.
    """
    # Lost attempts of failed jobs are rows of the run already; a second row would count twice.
    kept = lost.requeued & np.isin(lost.job_id, run.job_id)
    if not kept.any():
        return run
    rows = {job_id: row for row, job_id in enumerate(run.job_id.tolist())}
    of, count = np.array([rows[job_id] for job_id in lost.job_id[kept].tolist()]), int(kept.sum())
    places = kept[lost.place_row]
    more: dict[str, Any] = {
        "state": np.full(count, "requeued"),
        "has_start": np.ones(count, dtype=np.bool_),
        "has_end": np.ones(count, dtype=np.bool_),
        "has_run_time": np.ones(count, dtype=np.bool_),
        "start_time": lost.start_time[kept],
        "end_time": lost.end_time[kept],
        "run_time": (lost.end_time - lost.start_time)[kept],
        "places": lost.places[kept],
        "unpaired": np.zeros(count, dtype=np.bool_),
        "node": lost.node[places],
        "node_units": lost.node_units[places],
        "rejected_by": np.full(count, ""),
    }
    changed: dict[str, Any] = {}
    for field in fields(run):
        whole = getattr(run, field.name)
        if isinstance(whole, dict):
            changed[field.name] = {
                name: np.concatenate((flags, flags[of])) for name, flags in whole.items()
            }
        elif isinstance(whole, list):
            changed[field.name] = [*whole, *(whole[row] for row in of.tolist())]
        else:
            added = more[field.name] if field.name in more else whole[of]
            changed[field.name] = np.concatenate((whole, added))
    return replace(run, **changed)
