"""`hpcsched validate` tells every error and warning, as text or JSON."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from tests.scenario.samples import BAD, GOOD, Bad, write


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
    found = json.loads(out)
    message = found["findings"][0].pop("message")
    assert "did you mean 'seed'?" in message
    place = {"file": str(path), "line": 2, "column": 1, "key": "sede"}
    told = [{**place, "severity": "error", "rule": "unknown-key"}]
    assert found == {"version": 1, "files": 1, "errors": 1, "warnings": 0, "findings": told}
    file = tmp_path / "findings"
    assert cli.main(["validate", "--format", "json", "--out", str(file), str(path)]) == 1
    assert file.read_text() == out
    assert capsys.readouterr().out == f"wrote {file}\n"
