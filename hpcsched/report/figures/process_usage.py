"""CPU time and memory of the simulating process: a table of totals, and figures.

Source: Galleguillos, thesis 2020, table 3.3 and figure 3.9a.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.figure_style import INK
from hpcsched.report.figures.pictures import DAY, SPANS, WIDTH, Draw, contender_looks, legend
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.table_parts import plain
from hpcsched.results.files import USAGE
from hpcsched.results.tables import ParquetTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("loading", "dispatching", "other")
_SHADES = ("1.0", "0.75", "0.45")
_MB = 1e6
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
    """Return the recorded CPU time and memory, by contender and trace.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            found[one.contender, one.group].append(usage)
    if not found:
        raise InputError(Finding("no-usage", f"no run recorded CPU time and memory; {_HOW}"))
    return found


def cpu_memory(compared: ComparedStudy) -> Table:
    """Return CPU time and memory by contender and trace.

    Returns
    -------
    Table
        Means and standard deviations over runs: CPU seconds by part, memory in MB.
    """
    by_case: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    for one in compared.study.runs:
        usage = usage_of(one)
        if usage is not None:
            by_case[one.contender, one.group].append(usage)
    rows: list[tuple[Cell, ...]] = []
    for (contender, group), runs in by_case.items():
        cells: list[Cell] = []
        for values in (
            [usage.times.sum() for usage in runs],
            *([usage.times[k].sum() for usage in runs] for k in range(len(PARTS))),
            [_mean(usage.memory) / _MB for usage in runs],
            [_largest(usage.memory) / _MB for usage in runs],
        ):
            cells += _moments(np.array(values, np.float64))
        rows.append((contender, group, len(runs), *cells))
    columns = ("total", *PARTS)
    measured = [(f"{name}_{what}", "s") for name in columns for what in ("mean", "sd")]
    measured += [
        (f"{name}_{what}", "MB") for name in ("memory", "peak_memory") for what in ("mean", "sd")
    ]
    return Table(
        "cpu-memory",
        "CPU time and memory of the simulation",
        (*plain("contender", "trace", "runs"), *measured),
        tuple(rows),
        (
            "Population: runs that recorded it, which are interpreted event by event, so that they"
            f" take longer than others; {_HOW}.",
            "CPU time is of the whole process with its threads, from the first record to the last"
            " round; solvers in a process of their own are not in it. Memory is resident, at the"
            " end of each round; 1 MB is 10⁶ bytes.",
        ),
    )


def draw_cpu_time(compared: ComparedStudy) -> Draw:
    """Return the drawing of the mean CPU time of a round, by part, contender and trace.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found = recorded_usage(compared)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        figure.set_size_inches(WIDTH, 3.2)
        axes = figure.add_subplot()
        step = 0.8 / len(drawn)
        places, names = [], []
        for k, group in enumerate(groups):
            for m, contender in enumerate(drawn):
                if (contender, group) not in found:
                    continue
                at = k + step * (m - (len(drawn) - 1) / 2)
                places.append(at)
                names.append(contender if len(groups) == 1 else f"{contender}\n{group}")
                times = np.concatenate([u.times for u in found[contender, group]], axis=1)
                upto = 0.0
                for part, shade, mean in zip(PARTS, _SHADES, _means(times), strict=True):
                    axes.bar(
                        [at], [1000 * mean], 0.8 * step, bottom=[upto], color=shade,
                        edgecolor=INK, linewidth=0.5, label=part,
                    )  # fmt: skip
                    upto += 1000 * mean
        axes.set_xticks(places, names, fontsize=7)
        axes.set_ylabel("mean CPU time of a round [ms]")
        axes.grid(True, axis="y")
        axes.set_axisbelow(True)
        legend(figure)

    return draw


def draw_cpu_over_time(compared: ComparedStudy) -> Draw:
    """Return the drawing of cumulative CPU time and of memory over simulated time.

    Each trace has a pair of panels. Of several seeds the first that recorded it is drawn.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found = recorded_usage(compared)

    def draw(figure: "Figure") -> None:
        groups, drawn = compared.study.groups, contender_looks(compared)
        figure.set_size_inches(WIDTH, 1.0 + 3.0 * len(groups))
        rows = figure.subplots(2 * len(groups), 1, squeeze=False)[:, 0]
        for k, group in enumerate(groups):
            cpu, memory = rows[2 * k : 2 * k + 2]
            for contender, look in drawn.items():
                if (contender, group) not in found:
                    continue
                usage = found[contender, group][0]
                # Every n-th round, so that a picture does not grow with the trace.
                some = slice(None, None, -(-len(usage.now) // SPANS) or 1)
                days = usage.now[some] / DAY
                upto = usage.times.sum(axis=0).cumsum()[some]
                for axes, values in ((cpu, upto), (memory, usage.memory[some] / _MB)):
                    axes.plot(
                        days, values, color=look.colour, linestyle=look.line, linewidth=1.2,
                        label=contender,
                    )  # fmt: skip
            cpu.set_title(group, fontsize=9)
            cpu.set_ylabel("CPU time so far [s]")
            memory.set_ylabel("resident memory [MB]")
            memory.set_xlabel("days since the trace's origin")
            for axes in (cpu, memory):
                axes.grid(True)
        legend(figure)

    return draw


def _means(times: FloatColumn) -> list[float]:
    """Return the mean of each part, 0 where there was no round."""
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
