"""Tables of figures in sections, with a column for each of the things that are compared."""

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

Section = tuple[str, list[list[str]]]
"""A title, and lines of a label and a cell for each column."""


def sections_table(
    header: Sequence[str],
    sections: Sequence[Section],
    *,
    terminal: bool,
    width: int | None = None,
) -> str:
    """Return a table of sections; `header` has an empty cell first, above the labels.

    On a terminal the table is drawn and fits its width; otherwise it is plain and aligned, however
    wide that is.
    """
    return _drawn(header, sections, width) if terminal else _aligned(header, sections)


def _drawn(header: Sequence[str], sections: Sequence[Section], width: int | None) -> str:
    table = Table(box=box.SIMPLE, show_edge=False)
    for k, name in enumerate(header):
        table.add_column(name, justify="right" if k else "left", overflow="fold")
    for title, lines in sections:
        table.add_row(title, style="bold")
        for label, *cells in lines:
            table.add_row(f"  {label}", *cells)
        table.add_section()
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=width, markup=False).print(table)
    return out.getvalue().rstrip("\n")


def _aligned(header: Sequence[str], sections: Sequence[Section]) -> str:
    lines = [[f"  {label}", *cells] for _, section in sections for label, *cells in section]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]

    def aligned(line: Sequence[str]) -> str:
        label, *cells = (
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join([label, *cells]).rstrip()

    drawn = [aligned(header)]
    for title, section in sections:
        drawn += ["", title, *(aligned([f"  {label}", *cells]) for label, *cells in section)]
    return "\n".join(drawn)
