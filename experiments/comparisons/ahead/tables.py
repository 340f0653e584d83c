"""The tables of the comparison, as Markdown."""

from collections.abc import Iterator, Sequence

from comparisons.ahead.cells import METRICS, QUEUE, SEARCHES, TUNING, WHOLE, Cell, Cells
from hpcsched.report.tables.report_table import MISSING, Table

PREDICTORS = {"actual": "known", "requested-time": "requested"}
"""What run times are called, by label of the predictor."""

SETS = ("tuning", "unseen")

BEHIND, AHEAD = 1.02, 0.97
"""Ratios above and up to which a dispatcher counts as behind the best rule, and as ahead of it."""

Row = tuple[str, Sequence[str], str, str, Cell]
"""Name of a log or stretch, its stretches, labels of predictor and objective, and their cell."""


def rows_of(cells: Cells, kind: str, *, whole: bool = False, single: bool = False) -> Iterator[Row]:
    """Yield the cells of tuning or unseen logs: of their stretches together, or of each.

    With `whole`, they are those of whole logs.
    """
    for log, labels in cells.stretches.items():
        there = [one for one in labels if one.endswith(f"-{WHOLE}") == whole]
        if (log in TUNING) == (kind == "tuning"):
            for name, stretches in [(one, [one]) for one in there] if single else [(log, there)]:
                for predictor in PREDICTORS:
                    for objective in METRICS:
                        cell = cells.cell(stretches, predictor, objective)
                        if cell is not None:
                            yield name, stretches, predictor, objective, cell


def cells_table(rows: Iterator[Row]) -> str:
    """Return the best rule of each cell, and the others in multiples of it."""
    header = ["log", "run times", "objective", "best rule", "its figure"]
    header += [text for name in SEARCHES for text in (f"{name} / best", "range")]
    lines = []
    for name, _, predictor, objective, cell in rows:
        line = [name, PREDICTORS[predictor], objective, cell.best, f"{cell.figure:,.2f}"]
        for search in SEARCHES:
            ratio = cell.ratios.get(search)
            line.append(MISSING if ratio is None else f"{ratio.mean:.3f}")
            line.append(MISSING if ratio is None else f"{ratio.least:.2f} to {ratio.most:.2f}")
        lines.append(line)
    return Table(header, lines, words=4).as_markdown()


def behind_table(cells: Cells, search: str = "hyper") -> str:
    """Return the cells of single stretches in which a dispatcher is behind the best rule."""
    return cells_table(
        row
        for kind in SETS
        for row in rows_of(cells, kind, single=True)
        if search in row[-1].ratios and row[-1].ratios[search].mean > BEHIND
    )


def summary_table(cells: Cells) -> str:
    """Return in how many cells the dispatchers are within 2 % of the best rule, and ahead of it."""
    header = ["logs", "a cell is", "dispatcher", "cells", "within 2 %", "worst"]
    header += ["that queue", "of them ahead by 3 %"]
    lines = []
    for kind in SETS:
        for single in (False, True):
            rows = list(rows_of(cells, kind, single=single))
            for name in SEARCHES:
                found = [(row, row[-1].ratios[name].mean) for row in rows if name in row[-1].ratios]
                every = [mean for _, mean in found]
                queue = [mean for row, mean in found if cells.queues(row[1], row[2])]
                within, ahead = sum(m <= BEHIND for m in every), sum(m <= AHEAD for m in queue)
                worst = f"{max(every):.3f}" if every else MISSING
                line = [kind, "a stretch" if single else "a log", name, str(len(every))]
                lines.append([*line, str(within), worst, str(len(queue)), str(ahead)])
    note = f"Cells queue where the best rule's mean bounded slowdown is above {QUEUE:g}."
    return Table(header, lines, words=3, notes=[note]).as_markdown()
