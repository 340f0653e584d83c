"""The command `compare`."""

import csv
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from hpcsched.cli.result_commands import compare
from hpcsched.report.tables.study_tables import TABLES
from tests.report.studies import pair, write_experiment
from tests.runs.hand_made import JOBS, write_run

APP = typer.Typer()
APP.command()(compare)


def test_formats_and_warnings(tmp_path: Path) -> None:
    """Every format is written to the output, and warnings beside it."""
    first = write_run(tmp_path / "first", name="first").path
    second = write_run(tmp_path / "second", JOBS[:3], name="second").path
    for name, start in (("text", "metric"), ("markdown", "| metric"), ("csv", "metric,unit")):
        result = CliRunner().invoke(APP, [str(first), str(second), "--format", name])
        assert result.exit_code == 0
        assert result.stdout.startswith(start)
        assert result.stderr == (
            "warning: the runs have different numbers of submitted jobs: first: 7; second: 3\n"
        )
    arguments = [str(first), str(second), "--format", "json", "--baseline", "second"]
    assert json.loads(CliRunner().invoke(APP, arguments).stdout)["baseline"] == "second"


def invoke(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(APP, list(map(str, arguments)))


def test_tables(tmp_path: Path) -> None:
    """Tables are chosen by name, in any format; all of them, if that is asked for."""
    pair(tmp_path)
    for name, start in (("text", "Differences"), ("markdown", "## Differences"), ("latex", "%")):
        result = invoke(tmp_path, "--table", "paired", "--format", name)
        assert result.exit_code == 0
        assert result.stdout.startswith(start)
    rows = list(csv.DictReader(invoke_csv(tmp_path, "paired").splitlines()))
    assert float(rows[0]["mean_difference"]) == pytest.approx(60 / 7)
    everything = json.loads(invoke(tmp_path, "--table", "all", "--format", "json").stdout)
    assert list(everything["tables"]) == list(TABLES)
    assert everything["metrics"]
    text = invoke(tmp_path, "--table", "ranks", "--table", "load").stdout
    assert text.index("Ranks over traces") < text.index("Queue length and utilization")
    assert not text.startswith("metric")


def invoke_csv(folder: Path, table: str) -> str:
    """Return a table as CSV."""
    return invoke(folder, "--table", table, "--format", "csv").stdout


def test_csv_holds_one_table(tmp_path: Path) -> None:
    """Two tables in one file could not be read back."""
    pair(tmp_path)
    for wanted in (["--table", "all"], ["--table", "load", "--table", "ranks"]):
        assert invoke(tmp_path, *wanted, "--format", "csv").exit_code == 2


def test_latex_of_metrics(tmp_path: Path) -> None:
    """There is a column for each run."""
    pair(tmp_path)
    text = invoke(tmp_path, "--format", "latex").stdout
    assert r"\begin{tabular}{llrr}" in text
    assert r"mean\_wait\_time & s & 35.7143 & 44.2857 (124.0 \%) \\" in text


def test_an_experiment(tmp_path: Path) -> None:
    """Its folder stands for its runs; the baseline may be what was varied."""
    write_experiment(tmp_path)
    result = invoke(tmp_path, "--table", "paired", "--baseline", "sjf", "--format", "json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["tables"]["paired"]["rows"]
    waits = [row for row in rows if row["quantity"] == "wait_time"]
    assert [(row["run"], row["baseline"]) for row in waits] == [
        ("easy (kth) (seed 0)", "sjf (kth) (seed 0)"),
        ("easy (kth) (seed 1)", "sjf (kth) (seed 1)"),
        ("easy (ctc) (seed 0)", "sjf (ctc)"),
    ]
    assert "sjf.ctc.1 has no run and is left out" in result.stderr
