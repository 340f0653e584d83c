"""Labels of runs: names without what all of them share."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.report.studied_runs import short_labels
from tests.report.studies import LATER, write_studied


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["kth-easy", "kth-list-sjf"], ["easy", "list-sjf"]),
        (["small-easy-actual", "small-sjf-actual"], ["easy", "sjf"]),
        # Whole parts go, never letters: both begin with s.
        (["sjf", "saf"], ["sjf", "saf"]),
        # Nothing would remain of the first.
        (["small", "small-easy"], ["small", "small-easy"]),
        # A number alone says nothing.
        (["tau-10", "tau-60"], ["tau-10", "tau-60"]),
        (["easy (seed 0)", "easy (seed 1)"], ["seed 0", "seed 1"]),
        (["easy (runs/a)", "easy (runs/b)"], ["a", "b"]),
        # The labels of an experiment's axes stay whole.
        (["easy, actual-time", "easy, limit-time"], ["actual-time", "limit-time"]),
        # Two would be called x.
        (["(x)", "x"], ["(x)", "x"]),
        (["kth-easy"], ["kth-easy"]),
    ],
)
def test_by_hand(names: list[str], labels: list[str]) -> None:
    """Names lose their shared beginning and end, and stay different and readable."""
    assert list(short_labels(names).values()) == labels


def _named_alike(folder: Path) -> list[str]:
    easy = write_studied(folder / "one", name="kth-easy")
    other = write_studied(folder / "two", LATER, name="kth-sjf", dispatcher={"name": "list"})
    return [str(easy), str(other)]


def test_tables_show_labels(tmp_path: Path) -> None:
    """Readers see labels, which name a baseline too; CSV and JSON have the names."""
    runs = _named_alike(tmp_path)
    seen = CliRunner().invoke(app, ["compare", *runs, "--baseline", "sjf", "--table", "all"]).stdout
    assert seen.splitlines()[0].split() == ["metric", "unit", "easy", "sjf", "(baseline)"]
    assert "Differences of the same jobs from sjf" in seen
    assert "kth" not in seen
    paired = ["compare", *runs, "--table", "paired", "--format"]
    exact = CliRunner().invoke(app, [*paired, "csv"]).stdout
    assert exact.splitlines()[1].startswith("kth-sjf,kth-easy,wait_time")
    content = CliRunner().invoke(app, [*paired, "json"]).stdout
    assert '"name": "kth-sjf",\n      "label": "sjf"' in content
    assert '"run": "kth-sjf"' in content
