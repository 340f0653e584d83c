"""The command `hpcsched forecast`."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app

ROOT = Path(__file__).parents[3]
SCENARIO = str(ROOT / "scenarios" / "small-easy.yaml")
FEW = ["--set", "trace.jobs=300", "--samples", "5"]


def asked(*options: str, command: str = "starts") -> str:
    """Return what the command prints."""
    result = CliRunner().invoke(app, ["forecast", command, SCENARIO, *FEW, *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_text(tmp_path: Path) -> None:
    """A line for each job, the supposed one last; also in a file."""
    options = ["--at", "1d", "--if", "{units: 2, time: 1h}"]
    text = asked(*options)
    assert text.startswith("Starts after second ")
    assert "supposed" in text
    written = tmp_path / "starts.txt"
    assert asked(*options, "--out", str(written)) == f"wrote {written}\n"
    assert written.read_text() == text


def test_json_is_the_same_every_time() -> None:
    """Quantiles are sorted."""
    options = ["--at", "30h", "--format", "json", "--quantiles", "0.9,0.1"]
    first = asked(*options)
    assert first == asked(*options)
    content = json.loads(first)
    assert content["quantiles"] == [0.1, 0.9]
    assert content["now"] <= 30 * 3600
    assert content["samples"] == 5


def test_a_date(tmp_path: Path) -> None:
    """One day after second 0, 14:00 by the clocks of a log that begins then, is 1d."""
    log = tmp_path / "log.swf"
    with gzip.open(ROOT / "scenarios" / "traces" / "small-cluster.swf.gz", "rt") as lines:
        header = "; UnixStartTime: 843480000\n; TimeZoneString: Europe/Stockholm\n"
        log.write_text(header + lines.read())
    dated = ["--set", f"trace.path={log}", "--format", "json"]
    by_date = asked("--at", "1996-09-24T14:00", *dated)
    assert by_date == asked("--at", "86400", *dated) == asked("--at", "1d", *dated)


def test_what_is_no_time() -> None:
    """The message says what is expected."""
    result = CliRunner().invoke(app, ["forecast", "starts", SCENARIO, *FEW, "--at", "soon"])
    assert "a time is a number of simulated seconds, a duration or a date" in str(result.exception)


def test_evaluation() -> None:
    """Forecasts and baselines are scored at two instants."""
    text = asked("--jobs", "4", command="evaluate")
    assert "requested times" in text
    assert "an hour before" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantiles", "0.5,2"], "numbers from 0 to 1"),
        (["--if", "four"], "expected a mapping such as"),
    ],
)
def test_wrong_usage(options: list[str], message: str) -> None:
    """The message says what is expected."""
    result = CliRunner().invoke(app, ["forecast", "starts", SCENARIO, *FEW, *options])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
