"""Text of cells in CSV, Markdown and LaTeX, whatever names of users and partitions hold."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from hpcsched.terminal import visible


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV without a line break at its end.

    Parameters
    ----------
    rows
        Values; None becomes an empty cell. Text that a spreadsheet would take for a formula begins
        with an apostrophe.
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


_MARKDOWN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{sign: f"\\{sign}" for sign in "\\|"}}
)


def markdown_escaped(text: str) -> str:
    r"""Return text in which Markdown finds no HTML, link or end of a cell.

    Examples
    --------
    >>> print(markdown_escaped("<b> a|b [c](d)"))
    &lt;b&gt; a\|b [c]\(d)
    """
    return one_line(text).translate(_MARKDOWN).replace("](", r"]\(")


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
    "█": r"\rule{0.6em}{1.2ex}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    # At the start of a row a bracket would be an option of the line break before it.
    "[": "{[}",
}


def latex_escaped(text: str) -> str:
    r"""Return text with every LaTeX command character escaped.

    Examples
    --------
    >>> print(latex_escaped("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)
