"""CPU time and memory of the simulating process, and a table of their totals.

Source: Galleguillos, thesis 2020, table 3.3.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.table_parts import plain
from hpcsched.runs.files import USAGE
from hpcsched.runs.tables import ParquetTable

PARTS = ("loading", "dispatching", "other")
MEGABYTE = 1e6
_HOW = "the observer cpu-memory records it: observers: [cpu-memory]"


class Usage(NamedTuple):
    """CPU time and memory of a run.

    Attributes
    ----------
    now
        Simulated second of each round, `[R]`.
    times
        CPU seconds by part, in the order of `PARTS`, `[3, R]`.
    memory
        Resident memory in bytes, `[R]`; NaN where unknown.
    """

    now: FloatColumn
    times: FloatColumn
    memory: FloatColumn


def usage_of(one: StudiedRun) -> Usage | None:
    """Return the recorded CPU time and memory of a run.

    Returns
    -------
    Usage or None
        None without the observer `cpu-memory`.

    Raises
    ------
    InputError
        The file is damaged.
    """
    path = one.run.path / USAGE
    if not path.is_file():
        return None
    names = ("now", *(f"{part}_time" for part in PARTS), "memory")
    table = ParquetTable(path).read(*names)
    now, *times, memory = (
        np.asarray(table[name].to_numpy(zero_copy_only=False), np.float64) for name in names
    )
    return Usage(now, np.stack(times), memory)


def recorded_usage(compared: ComparedStudy) -> Mapping[tuple[str, str], list[Usage]]:
    """Return the recorded CPU time and memory, by configuration and trace.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            found[one.configuration, one.group].append(usage)
    if not found:
        raise InputError(Finding("no-usage", f"no run recorded CPU time and memory; {_HOW}"))
    return found


def cpu_memory(compared: ComparedStudy) -> Table:
    """Return CPU time and memory by configuration and trace.

    Returns
    -------
    Table
        Means and standard deviations over runs: CPU seconds by part, memory in MB.
    """
    by_case: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            by_case[one.configuration, one.group].append(usage)
    rows: list[tuple[Cell, ...]] = []
    for (configuration, group), runs in by_case.items():
        cells: list[Cell] = []
        for values in (
            [usage.times.sum() for usage in runs],
            *([usage.times[k].sum() for usage in runs] for k in range(len(PARTS))),
            [_mean(usage.memory) / MEGABYTE for usage in runs],
            [_largest(usage.memory) / MEGABYTE for usage in runs],
        ):
            cells += _moments(np.array(values, np.float64))
        rows.append((configuration, group, len(runs), *cells))
    columns = ("total", *PARTS)
    measured = [(f"{name}_{what}", "s") for name in columns for what in ("mean", "sd")]
    measured += [
        (f"{name}_{what}", "MB") for name in ("memory", "peak_memory") for what in ("mean", "sd")
    ]
    return Table(
        "cpu-memory",
        "CPU time and memory of the simulation",
        (*plain("configuration", "trace", "runs"), *measured),
        tuple(rows),
        (
            "Population: runs that recorded it, which are interpreted event by event, so that they"
            f" take longer than others; {_HOW}.",
            "CPU time is of the whole process with its threads, from the first record to the last"
            " round; solvers in a process of their own are not in it. Memory is resident, at the"
            " end of each round; 1 MB is 10⁶ bytes.",
        ),
    )


def mean_times(times: FloatColumn) -> list[float]:
    """Return the mean of each part, 0 where there was no round.

    Parameters
    ----------
    times
        CPU seconds by part and round, `[3, R]`.
    """
    return [float(mean) for mean in (times.mean(axis=1) if times.shape[1] else np.zeros(3))]


def _mean(values: FloatColumn) -> float:
    # NaN: the platform did not report memory at that round.
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _largest(values: FloatColumn) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else np.nan


def _moments(values: FloatColumn) -> list[Cell]:
    """Return the mean of values and their standard deviation; None where there are too few."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else None
    return [mean, float(known.std(ddof=1)) if len(known) > 1 else None]
