"""The command `compare`."""

import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from hpcsched.cli.compare import compare
from tests.results.hand_made import JOBS, write_run

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
        assert result.stderr == "warning: second was submitted 3 jobs, first 7\n"
    arguments = [str(first), str(second), "--format", "json", "--baseline", "second"]
    assert json.loads(CliRunner().invoke(APP, arguments).stdout)["baseline"] == "second"
