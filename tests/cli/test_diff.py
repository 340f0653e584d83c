"""`hpcsched diff` prints what differs in meaning."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from tests.scenario.samples import GOOD, write


def test_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same meaning is one line."""
    first, second = write(tmp_path), write(tmp_path, GOOD.replace("30min", "1800"), "b.yaml")
    assert cli.main(["diff", str(first), str(second)]) == 0
    assert capsys.readouterr().out == "no difference in meaning\n"


def test_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A difference is a line, and no failure."""
    first, second = write(tmp_path), write(tmp_path, GOOD.replace("30min", "1h"), "b.yaml")
    assert cli.main(["diff", str(first), str(second)]) == 0
    assert capsys.readouterr().out == "trace.length: 1800 -> 3600\n"
    out = tmp_path / "diff.json"
    given = ["diff", str(first), str(second), "--format", "json", "--out", str(out)]
    assert cli.main(given) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    changes = [{"key": "trace.length", "first": 1800, "second": 3600}]
    assert json.loads(out.read_text()) == changes


def test_an_exit_code_for_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --exit-code a difference is 1, and none is 0; --set holds for both scenarios."""
    first, second = write(tmp_path), write(tmp_path, GOOD.replace("30min", "1h"), "b.yaml")
    assert cli.main(["diff", str(first), str(second), "--exit-code"]) == 1
    assert capsys.readouterr().out == "trace.length: 1800 -> 3600\n"
    same = ["diff", str(first), str(second), "--exit-code", "--set", "trace.length=2h"]
    assert cli.main(same) == 0
    assert capsys.readouterr().out == "no difference in meaning\n"


def test_faults_of_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What keeps either from loading is told, on stderr."""
    bad = write(tmp_path, GOOD.replace("seed", "sede"))
    assert cli.main(["diff", str(bad), "none.yaml"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("[")[-1] for line in err.splitlines()] == [
        "unknown-key]",
        "unreadable-file]",
    ]


def test_a_table_for_a_review(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Markdown has a row for each key, CSV too; without a difference there is a sentence."""
    first, second = write(tmp_path), write(tmp_path, GOOD.replace("30min", "1h"), "b.yaml")
    assert cli.main(["diff", str(first), str(second), "--format", "markdown"]) == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header == f"| key | {first} | {second} |"
    assert row == "| trace.length | 1800 | 3600 |"
    assert cli.main(["diff", str(first), str(second), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "trace.length,1800,3600"
    assert cli.main(["diff", str(first), str(first), "--format", "markdown"]) == 0
    assert "no difference in meaning" in capsys.readouterr().out
