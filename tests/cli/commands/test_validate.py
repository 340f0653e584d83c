"""`hpcsched validate` tells every error and warning, as text or JSON."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.cli.commands.validate import as_text, findings_content
from hpcsched.errors import Finding, Place
from tests.scenario.samples import BAD, GOOD, Bad, write

ERROR = Finding("unknown-key", "50% wrong:\na, b", Place("a b,c.yaml", 3, 5), "x.y")
WARNING = Finding("deep", "is deep", Place("--set x=1"), severity="warning")


def test_a_good_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to say is one line and exit code 0."""
    assert cli.main(["validate", str(write(tmp_path))]) == 0
    assert capsys.readouterr() == ("1 file, 0 errors, 0 warnings\n", "")


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_scenarios(bad: Bad, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every fault exits with 1 and is told with its place, without a traceback."""
    path = write(tmp_path, bad.text)
    assert cli.main(["validate", str(path)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "Traceback" not in out
    line = next(
        line for line in out.splitlines() if f"[{bad.rule}]" in line and bad.message in line
    )
    assert line.startswith(f"{path}:{bad.line}:{bad.column}: error: ")


def test_many_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All files are checked, whatever is wrong with the first ones."""
    bad = write(tmp_path, GOOD.replace("seed", "sede"), "bad.yaml")
    odd = write(tmp_path, GOOD.replace("seed: 1", "predictor: actual"), "odd.yaml")
    assert cli.main(["validate", "none.yaml", str(bad), str(odd), str(write(tmp_path))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == ["error", "error", "warning"]
    assert lines[-1] == "4 files, 2 errors, 1 warning"


def test_warnings_count_when_strict(tmp_path: Path) -> None:
    """Warnings leave the exit code at 0, except with --strict."""
    path = str(write(tmp_path, GOOD.replace("seed: 1", "predictor: actual")))
    assert cli.main(["validate", path]) == 0
    assert cli.main(["validate", "--strict", path]) == 1


def test_json_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It holds the finding and keeps the exit code."""
    path = write(tmp_path, GOOD.replace("seed", "sede"))
    assert cli.main(["validate", "--format", "json", str(path)]) == 1
    out = capsys.readouterr().out
    assert json.loads(out)["findings"][0]["rule"] == "unknown-key"
    file = tmp_path / "findings"
    assert cli.main(["validate", "--format", "json", "--out", str(file), str(path)]) == 1
    assert file.read_text() == out
    assert capsys.readouterr().out == f"wrote {file}\n"


def test_text() -> None:
    """Text has a line a finding and counts them at the end."""
    assert as_text([WARNING], 1) == (
        "--set x=1: warning: is deep [deep]\n1 file, 0 errors, 1 warning"
    )


def test_json() -> None:
    """The JSON shape is stable."""
    assert findings_content([ERROR, WARNING], 2) == {
        "version": 1,
        "files": 2,
        "errors": 1,
        "warnings": 1,
        "findings": [
            {
                "file": "a b,c.yaml",
                "line": 3,
                "column": 5,
                "severity": "error",
                "rule": "unknown-key",
                "key": "x.y",
                "message": "50% wrong:\na, b",
            },
            {
                "file": "--set x=1",
                "line": None,
                "column": None,
                "severity": "warning",
                "rule": "deep",
                "key": "",
                "message": "is deep",
            },
        ],
    }
