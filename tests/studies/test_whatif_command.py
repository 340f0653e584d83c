"""The command `hpcsched whatif`: text, tables, and what is kept."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import read_whatif
from hpcsched.studies.whatif_study import gains_table, read_study
from tests.studies.experiment_samples import run_cells_here
from tests.studies.whatif_samples import FEW, SCENARIO, variation


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    run_cells_here(monkeypatch)


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
    assert f"runs and tables in {out}; a page: hpcsched report {out}" in text
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


def test_gains_are_beyond_noise(tmp_path: Path) -> None:
    """From the largest gain over all jobs of a class to the largest loss."""
    asked(tmp_path)
    read = read_whatif(SCENARIO, tmp_path / "variation.yaml", FEW)
    study = read_study(read, ExperimentFolder(tmp_path / "out"))
    assert len(study.variants) == 3
    for one in study.variants:
        columns = [name.partition(" [")[0] for name in gains_table(study, one).header]
        rows = [dict(zip(columns, row, strict=True)) for row in gains_table(study, one).rows]
        totals = [row["mean_difference"] * row["jobs"] for row in rows]
        assert totals == sorted(totals)
        assert "within noise" not in {row["verdict"] for row in rows}


def test_the_folder_is_that_of_an_experiment(tmp_path: Path) -> None:
    """Its runs are compared like others, with the base as the baseline."""
    asked(tmp_path)
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "base (baseline)" in result.stdout
