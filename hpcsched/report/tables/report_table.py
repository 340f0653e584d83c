"""Tables as text, Markdown, LaTeX, CSV and JSON: one class for every command and page."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from hpcsched.terminal import visible


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV without a line break at its end; None becomes an empty cell.

    Text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    out = io.StringIO()
    # The module's default is CRLF, unlike every other file of this program.
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(map(_no_formula, line) for line in (header, *rows))
    return out.getvalue().rstrip("\n")


_FORMULA = re.compile(r"[-+=@＝＋－＠\t\r\n]")
_FIGURE = re.compile(r"[-+][-+\d.,:%()*eE ]*")


def _no_formula(cell: object) -> object:
    if isinstance(cell, str) and _FORMULA.match(cell) and not _FIGURE.fullmatch(cell):
        return f"'{cell}"
    return cell


def one_line(text: str) -> str:
    """Return text without line breaks and control characters."""
    return visible(text).replace("\n", " ").replace("\t", " ")


_MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": r"\\", "|": r"\|"})


def markdown_escaped(text: str) -> str:
    r"""Return text in which Markdown finds no HTML, link or end of a cell.

    Examples
    --------
    >>> print(markdown_escaped("<b> a|b [c](d)"))
    &lt;b&gt; a\|b [c]\(d)
    """
    return one_line(text).translate(_MARKDOWN).replace("](", r"]\(")


_LATEX = str.maketrans(
    {
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
        "█": r"\rule{0.6em}{1.2ex}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        # At the start of a row a bracket would be an option of the line break before it.
        "[": "{[}",
    }
)


def latex_escaped(text: str) -> str:
    r"""Return text with every LaTeX command character escaped.

    Examples
    --------
    >>> print(latex_escaped("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return text.translate(_LATEX)


MISSING = "–"
"""Text shown for a missing value."""

NAMES_OF_RUNS = ("run", "configuration", "baseline")
"""Columns with names of runs or configurations."""

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of values with its title, units and notes, and its text in each format.

    Attributes
    ----------
    header
        Name of each column, with its unit in brackets: `wait [s]`.
    rows
        Exact values, or formatted text; None is a missing value.
    name
        Key of the table in JSON, and its LaTeX label.
    title
        Heading in text and Markdown, caption in LaTeX.
    notes
        Footer: population, bounds and method of the figures.
    words
        Number of first columns that hold words, where the others hold formatted figures; None:
        columns of numbers hold figures.
    sections
        Title of the section of each row; empty for a table without sections.
    heading
        Whether text and Markdown begin with the title.
    labels
        Labels by name, shown to people in the columns `NAMES_OF_RUNS`, not in CSV and JSON.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    name: str = "table"
    title: str = ""
    notes: Sequence[str] = ()
    words: int | None = None
    sections: Sequence[str] = ()
    heading: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", list(map(one_line, self.header)))

    def shown(self) -> list[list[str]]:
        """Return the rows as text for people."""
        labels = [self.labels if name in NAMES_OF_RUNS else {} for name in self.header]
        return [
            [
                one_line(own.get(text, text))
                for own, text in zip(labels, map(shown, row), strict=True)
            ]
            for row in self.rows
        ]

    def is_number(self, column: int) -> bool:
        """Return whether a column holds figures, which are aligned to the right."""
        if self.words is not None:
            return column >= self.words
        # A column without any value stays on the left, as text does.
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)

    def as_text(self, width: int | None = None) -> str:
        """Return title, table and notes: drawn into the width of a terminal, else aligned."""
        # A lone header would look like a table that was cut off.
        body = "There is nothing to show."
        if self.rows:
            body = self._aligned() if width is None else self._drawn(width)
        title = self.title if self.heading else ""
        return "\n\n".join(filter(None, (title, body, "\n".join(self.notes))))

    def as_markdown(self) -> str:
        """Return the title as a heading, the table, and the notes as a list.

        Examples
        --------
        >>> print(Table(["run", "jobs"], [["a", 7]]).as_markdown())
        | run | jobs |
        | --- | ---: |
        | a | 7 |
        """
        lines = [["---:" if right else "---" for right in self._right()]]
        for section, rows in self._parts():
            if section:
                title = f"**{markdown_escaped(section)}**"
                lines.append([title, *[""] * (len(self.header) - 1)])
            lines += [[markdown_escaped(cell) for cell in row] for row in rows]
        lines.insert(0, [markdown_escaped(name) for name in self.header])
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        title = f"## {markdown_escaped(self.title)}" if self.heading and self.title else ""
        notes = "\n".join(f"- {markdown_escaped(note)}" for note in self.notes)
        return "\n\n".join(filter(None, (title, body, notes)))

    def as_latex(self) -> str:
        """Return a `table` environment with the rules of the package `booktabs`.

        The notes follow the title in the caption.
        """
        body = []
        for section, rows in self._parts():
            if section:
                spanned = rf"\multicolumn{{{len(self.header)}}}{{l}}"
                body.append(rf"  {spanned}{{\textbf{{{latex_escaped(section)}}}}} \\")
            body += map(_latex_row, rows)
        return "\n".join(
            [
                r"% needs \usepackage{booktabs}",
                r"\begin{table}",
                r"  \centering",
                rf"  \caption{{{latex_escaped(' '.join([f'{self.title}.', *self.notes]))}}}",
                rf"  \label{{tab:{self.name}}}",
                rf"  \begin{{tabular}}{{{''.join('lr'[right] for right in self._right())}}}",
                r"  \toprule",
                _latex_row(self.header),
                r"  \midrule",
                *body,
                r"  \bottomrule",
                r"  \end{tabular}",
                r"\end{table}",
            ]
        )

    def __str__(self) -> str:
        return self.as_text()

    def _repr_markdown_(self) -> str:
        """Return the table for notebooks."""
        return self.as_markdown()

    def flat(self) -> "Table":
        """Return the table with its sections as a first column."""
        if not self.sections:
            return self
        return replace(
            self,
            header=("section", *self.header),
            rows=[(title, *row) for title, row in zip(self.sections, self.rows, strict=True)],
            words=None if self.words is None else self.words + 1,
            sections=(),
        )

    def as_csv(self) -> str:
        """Return the columns and rows with exact values; sections become a first column."""
        table = self.flat()
        return csv_text(table.header, table.rows)

    def content(self) -> dict[str, Any]:
        """Return the content of the table for JSON."""
        table = self.flat()
        # Units have keys of their own: names of columns stay the same if a unit changes.
        parts = [name.removesuffix("]").partition(" [") for name in table.header]
        names = [name for name, _, _ in parts]
        return {
            "title": self.title,
            "units": {name: unit for name, _, unit in parts if unit},
            "rows": [dict(zip(names, row, strict=True)) for row in table.rows],
            "notes": list(self.notes),
        }

    def _right(self) -> list[bool]:
        return [self.is_number(column) for column in range(len(self.header))]

    def _parts(self, indent: str = "") -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the title and the shown rows of each section; one without a title if none.

        Labels of rows are indented below titles.
        """
        titles = self.sections or [""] * len(self.rows)
        for section, inside in groupby(zip(titles, self.shown(), strict=True), itemgetter(0)):
            yield one_line(section), [[indent * bool(section) + r[0], *r[1:]] for _, r in inside]

    def _drawn(self, width: int) -> str:
        from rich import box  # noqa: PLC0415 (rich takes its time)
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table as RichTable  # noqa: PLC0415

        drawn = RichTable(box=box.SIMPLE, show_edge=False)
        for title, right in zip(self.header, self._right(), strict=True):
            drawn.add_column(title, justify="right" if right else "left", overflow="fold")
        for section, rows in self._parts("  "):
            if section:
                drawn.add_row(section, style="bold")
            for row in rows:
                drawn.add_row(*row)
            drawn.add_section()
        out = io.StringIO()
        # Names of runs may hold square brackets, which would be taken for markup.
        Console(file=out, width=width, markup=False, emoji=False, highlight=False).print(drawn)
        return out.getvalue().rstrip("\n")

    def _aligned(self) -> str:
        parts = list(self._parts("  "))
        lines = [self.header, *(row for _, rows in parts for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        signs = [f"{'<>'[right]}{w}" for right, w in zip(self._right(), widths, strict=True)]

        def aligned(line: Sequence[str]) -> str:
            cells = (f"{cell:{sign}}" for cell, sign in zip(line, signs, strict=True))
            return "  ".join(cells).rstrip()

        text = [aligned(self.header)]
        for section, rows in parts:
            text += [*(["", section] if section else []), *map(aligned, rows)]
        return "\n".join(text)


def shown(cell: Cell) -> str:
    """Return a cell as text for people, with six significant digits.

    Examples
    --------
    >>> shown(2 / 3), shown(12), shown(None)
    ('0.666667', '12', '–')
    """
    if cell is None:
        return MISSING
    # Integers are counts: shown in full, never with an exponent.
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _latex_row(cells: Sequence[str]) -> str:
    return "  " + " & ".join(map(latex_escaped, cells)) + r" \\"


_DAY, _HOUR, _MINUTE = 86_400, 3600, 60


def duration_text(seconds: int) -> str:
    """Return a duration in days, hours, minutes and seconds, rounded to one or two units.

    Examples
    --------
    >>> duration_text(42), duration_text(754), duration_text(9000), duration_text(180_000)
    ('42 s', '13 min', '2 h 30 min', '2 d 2 h')
    """
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR - _MINUTE // 2:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < _DAY:
        hours, minutes = divmod(round(seconds / _MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(seconds / _HOUR), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def titled(name: str, definition: Mapping[str, Any]) -> str:
    """Return the name of a metric or objective with its parameters in words, if it has any."""
    parameters = parameters_text(definition)
    return f"{name} ({parameters})" if parameters else name


def parameters_text(definition: Mapping[str, Any]) -> str:
    """Return the parameters of a metric or objective in words, as `tau = 10`; empty without any."""
    parameters = definition.get("parameters", {})
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())
