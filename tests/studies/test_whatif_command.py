"""The command `hpcsched whatif`: text, tables, page, and what is kept."""

import json
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.studies.whatif import read_whatif
from hpcsched.studies.whatif_report import (
    differences_figure,
    gains_table,
    verdict_lines,
    whatif_page,
)
from hpcsched.studies.whatif_study import WhatIfFolder, WhatIfStudy, read_study
from tests.report.figures.described import units
from tests.studies.whatif_samples import FEW, SCENARIO, variation


def asked(tmp_path: Path, *options: str, code: int = 0) -> str:
    """Return what the command prints."""
    vary = tmp_path / "variation.yaml"
    if not vary.exists():
        variation(tmp_path)
    command = ["whatif", str(SCENARIO), "--vary", str(vary), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*command, "--set", *FEW, *options])
    assert result.exit_code == code, result.output
    return result.stdout


def test_tables_and_files(tmp_path: Path) -> None:
    """The best variant comes first, and the same study gives the same bytes."""
    text = asked(tmp_path, "--by", "size")
    out = tmp_path / "out"
    assert text.startswith("Variants of small-easy, by mean_bounded_slowdown\n")
    assert "by number of units" in text
    assert f"page and tables in {out}" in text
    content = json.loads((out / "whatif.json").read_text())
    rows = content["tables"]["variants"]["rows"]
    assert rows[0]["variant"] == "base"
    values = [row["objective"] for row in rows[1:]]
    assert values == sorted(values)
    assert {row["variant"] for row in content["tables"]["by_size"]["rows"]} == {
        "shortest-first", "list-fcfs", "list-saf",
    }  # fmt: skip
    files = {path.name: path.read_bytes() for path in out.glob("whatif.*")}
    assert asked(tmp_path, "--by", "size") == text
    assert {path.name: path.read_bytes() for path in out.glob("whatif.*")} == files


def test_formats(tmp_path: Path) -> None:
    """Other formats have the tables alone."""
    assert json.loads(asked(tmp_path, "--format", "json"))["name"] == "tried"
    assert asked(tmp_path, "--format", "csv").startswith("variant,changes,objective,")


def test_unknown_class(tmp_path: Path) -> None:
    """The ones that there are are named."""
    asked(tmp_path, "--by", "colour", code=2)


@pytest.fixture
def study(tmp_path: Path) -> WhatIfStudy:
    """The study with its outcomes."""
    asked(tmp_path)
    read = read_whatif(SCENARIO, tmp_path / "variation.yaml", FEW)
    return read_study(read, WhatIfFolder(tmp_path / "out"))


def test_the_page_has_details_of_each_variant(study: WhatIfStudy) -> None:
    """With its changes, below what was found."""
    page = unescape(whatif_page(study))
    assert all(f"<summary>{one.name}: {one.changes}" in page for one in study.variants)
    assert all(sentence in page for sentence in verdict_lines(study))


def test_the_figure_has_a_line_for_each_variant(study: WhatIfStudy) -> None:
    """In the order of the table, with a line at 0."""
    names = [one.name for one in study.variants]
    lines, points, zero = units(differences_figure(study).chart)
    assert lines.column("variant") == points.column("variant") == names
    assert zero.column("at") == [0]


def test_gains_are_beyond_noise(study: WhatIfStudy) -> None:
    """From the largest gain over all jobs of a class to the largest loss."""
    for one in study.variants:
        columns = [name.partition(" [")[0] for name in gains_table(study, one).header]
        rows = [dict(zip(columns, row, strict=True)) for row in gains_table(study, one).rows]
        totals = [row["mean_difference"] * row["jobs"] for row in rows]
        assert totals == sorted(totals)
        assert "within noise" not in {row["verdict"] for row in rows}
