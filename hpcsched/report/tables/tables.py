"""Tables of figures, and how they are written: text, Markdown, LaTeX, CSV and JSON."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as DrawnTable

MISSING = "–"

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table: what it is called, its title, its columns and rows, and what its figures mean.

    A column is its name and its unit, empty where it has none. A cell of None is one for which
    there is no value. `figures` are columns that hold figures written out.
    """

    name: str
    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    figures: frozenset[int] = frozenset()

    @property
    def header(self) -> list[str]:
        """The columns with their units."""
        return [f"{name} [{unit}]" if unit else name for name, unit in self.columns]

    def shown(self) -> list[list[str]]:
        """Return the rows as they are shown to people."""
        return [[shown(cell) for cell in row] for row in self.rows]

    def is_number(self, column: int) -> bool:
        """Return whether a column holds figures, which are aligned to the right."""
        if column in self.figures:
            return True
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def shown(cell: Cell) -> str:
    """Return a cell as people read it: six significant digits."""
    if cell is None:
        return MISSING
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def table_as_text(table: ReportTable, *, terminal: bool, width: int | None = None) -> str:
    """Return a title, a table and its notes; drawn on a terminal, plain and aligned otherwise."""
    right = [table.is_number(k) for k in range(len(table.columns))]
    if terminal:
        drawn = DrawnTable(box=box.SIMPLE, show_edge=False)
        for title, number in zip(table.header, right, strict=True):
            drawn.add_column(title, justify="right" if number else "left", overflow="fold")
        for row in table.shown():
            drawn.add_row(*row)
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=width, markup=False).print(drawn)
        text = out.getvalue().rstrip("\n")
    else:
        text = _aligned([table.header, *table.shown()], right)
    if not table.rows:
        text = "There is nothing to show."
    return "\n".join([table.title, "", text, "", *table.notes])


def table_as_markdown(table: ReportTable) -> str:
    """Return a heading, a Markdown table, and a list of notes."""
    rule = ["---:" if table.is_number(k) else "---" for k in range(len(table.columns))]
    rows = [table.header, rule, *table.shown()]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(
        [f"## {table.title}", "", *lines, "", *(f"- {note}" for note in table.notes)]
    ).rstrip("\n")


def table_as_csv(table: ReportTable) -> str:
    """Return the columns and rows, with exact values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([f"{name} [{unit}]" if unit else name for name, unit in table.columns])
    writer.writerows(table.rows)
    return out.getvalue().rstrip("\n")


def table_content(table: ReportTable) -> dict[str, Any]:
    """Return what JSON holds of a table: exact values by column, the units, and the notes."""
    names = [name for name, _ in table.columns]
    return {
        "title": table.title,
        "units": {name: unit for name, unit in table.columns if unit},
        "rows": [dict(zip(names, row, strict=True)) for row in table.rows],
        "notes": list(table.notes),
    }


def table_as_latex(table: ReportTable) -> str:
    """Return a `table` environment whose rules are those of the package `booktabs`.

    The notes stand below the table as part of the caption.
    """
    alignment = "".join("r" if table.is_number(k) else "l" for k in range(len(table.columns)))

    def line(cells: Sequence[str]) -> str:
        return "  " + " & ".join(map(latex_escaped, cells)) + r" \\"

    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{latex_escaped(' '.join([f'{table.title}.', *table.notes]))}}}",
            rf"  \label{{tab:{table.name}}}",
            rf"  \begin{{tabular}}{{{alignment}}}",
            r"  \toprule",
            line(table.header),
            r"  \midrule",
            *(line(row) for row in table.shown()),
            r"  \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "Σ": r"$\Sigma$",
    "⌈": r"$\lceil$",
    "⌉": r"$\rceil$",
    "√": r"$\sqrt{}$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "[": "{[}",
}


def latex_escaped(text: str) -> str:
    """Return a text as LaTeX sets it: no sign of it is a command.

    A bracket is held in braces: at the start of a row it would be an option of the line break.
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    )
