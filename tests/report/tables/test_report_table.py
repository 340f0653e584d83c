"""Tables in each format, and their parts."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from hpcsched.metrics.column_sums import Interval
from hpcsched.report.tables.report_table import Table, duration_text, latex_escaped
from hpcsched.report.tables.study_tables import INTERVAL_NOTE, ends, ranks
from tests.report.studies import pair, set_tau, tables_of

TABLE = Table(
    ("run", "wait [s]", "note"),
    (("a_b & c", 1 / 3, "x|y"), ("second", None, "[z]")),
    "sample",
    "A sample",
    ("Over 50 % of jobs.",),
)


def test_text() -> None:
    """Figures are to the right, with six digits."""
    lines = TABLE.as_text().splitlines()
    assert lines == [
        "A sample",
        "",
        "run      wait [s]  note",
        "a_b & c  0.333333  x|y",
        "second          –  [z]",
        "",
        "Over 50 % of jobs.",
    ]
    drawn = TABLE.as_text(60)
    assert "0.333333" in drawn
    assert "─" in drawn


def test_an_empty_table() -> None:
    """It says so."""
    empty = Table(("run",), (), title="None")
    assert "There is nothing to show." in empty.as_text()


def test_csv_has_exact_values() -> None:
    """What is read back is what was there."""
    header, first, second = csv.reader(io.StringIO(TABLE.as_csv()))
    assert header == ["run", "wait [s]", "note"]
    assert float(first[1]) == 1 / 3
    assert second == ["second", "", "[z]"]


def test_csv_has_no_formulas() -> None:
    """Text that a spreadsheet would calculate begins with an apostrophe; figures do not."""
    texts = ["=1+1", "+cmd", "-a", "@sum", "＝1", "-1.5 (+2 %)", "+3", "a=b"]
    table = Table(["=run"], [[text] for text in texts], words=1)
    read = [row[0] for row in csv.reader(io.StringIO(table.as_csv()))]
    assert read == ["'=run", "'=1+1", "'+cmd", "'-a", "'@sum", "'＝1", *texts[5:]]


def test_json_has_exact_values() -> None:
    """Units stand beside the rows."""
    content = json.loads(json.dumps(TABLE.content()))
    assert content["units"] == {"wait": "s"}
    assert content["rows"][0] == {"run": "a_b & c", "wait": 1 / 3, "note": "x|y"}


def test_markdown() -> None:
    """Every row has as many cells as the header, and a bar within a cell is not one between."""
    lines = [line for line in TABLE.as_markdown().splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    assert {len(row) for row in cells} == {3}
    assert [cell.strip() for cell in cells[1]] == ["---", "---:", "---"]
    assert cells[2][2].strip() == "x\\|y"


def test_latex() -> None:
    """Every row has as many cells as there are columns, and no sign of the text is a command."""
    text = TABLE.as_latex()
    (alignment,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert alignment == "lrl"
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert r"a\_b \& c & 0.333333 & x|y \\" in rows[1]
    assert r"\caption{A sample. Over 50 \% of jobs.}" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("100 %", r"100 \%"),
        ("a\\b", r"a\textbackslash{}b"),
        ("x^2~#{}$", r"x\textasciicircum{}2\textasciitilde{}\#\{\}\$"),
        ("≥ 1 –", r"$\geq$ 1 --"),
    ],
)
def test_latex_escapes(plain: str, escaped: str) -> None:
    """Signs that are commands are written so that they are signs."""
    assert latex_escaped(plain) == escaped


SECTIONED = Table(
    ["", "a", "b"],
    [["x", "1", "20"], ["long label", "3", "–"]],
    "two",
    "Two sections",
    ["A note."],
    words=1,
    sections=["first", "second"],
    heading=False,
)


def test_sections_as_text() -> None:
    """Rows are indented below the title of their section; columns are aligned over all sections."""
    assert SECTIONED.as_text().splitlines() == [
        "              a   b",
        "",
        "first",
        "  x           1  20",
        "",
        "second",
        "  long label  3   –",
        "",
        "A note.",
    ]
    assert "long label" in SECTIONED.as_text(60)


def test_sections_in_other_formats() -> None:
    """Sections are bold rows in Markdown and LaTeX, and a column in CSV and JSON."""
    markdown = [line for line in SECTIONED.as_markdown().splitlines() if line.startswith("|")]
    assert markdown[1:4] == ["| --- | ---: | ---: |", "| **first** |  |  |", "| x | 1 | 20 |"]
    assert r"  \multicolumn{3}{l}{\textbf{second}} \\" in SECTIONED.as_latex().splitlines()
    assert list(csv.reader(io.StringIO(SECTIONED.as_csv()))) == [
        ["section", "", "a", "b"],
        ["first", "x", "1", "20"],
        ["second", "long label", "3", "–"],
    ]
    rows = SECTIONED.content()["rows"]
    assert rows[1] == {"section": "second", "": "long label", "a": "3", "b": "–"}


def test_formatted_cells() -> None:
    """Columns after the leading words are aligned to the right; without a title there is none."""
    table = Table(["name", "kind", "n"], [["a", "b|c", "10"]], words=2)
    assert table.as_markdown().splitlines() == [
        "| name | kind | n |",
        "| --- | --- | ---: |",
        "| a | b\\|c | 10 |",
    ]
    assert table.as_text().splitlines()[0] == "name  kind   n"


def test_ends_of_an_interval() -> None:
    """Mean, lower and upper bound are three cells; without an interval all three are missing."""
    assert ends(Interval(2.5, 1.0, 4.0)) == (2.5, 1.0, 4.0)
    assert ends(None) == (None, None, None)


def test_the_note_on_intervals() -> None:
    """It says the level and the number of resamples."""
    assert INTERVAL_NOTE == "Intervals: 95 %, percentiles of the means of 2000 resamples"


def test_the_note_on_bounds(tmp_path: Path) -> None:
    """Runs with one bound have it once; different bounds are all there, ascending."""
    paths = pair(tmp_path)
    assert "bounded_slowdown with tau = 10 s." in ranks(tables_of(paths)).notes
    set_tau(paths[0], 60)
    assert "bounded_slowdown with tau = 10, 60 s." in ranks(tables_of(paths)).notes


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59, "59 s"), (60, "1 min"), (3569, "59 min"), (3570, "1 h"), (86_399, "24 h"),
     (86_400, "1 d"), (100_000, "1 d 4 h")],
)  # fmt: skip
def test_durations(seconds: int, text: str) -> None:
    """They are rounded to two units at most."""
    assert duration_text(seconds) == text
