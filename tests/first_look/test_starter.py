"""Starter scenarios are valid as soon as their logs are there."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.first_look.starter import KINDS, SCHEMA, starter_text
from tests.first_look import samples


@pytest.mark.parametrize("kind", KINDS)
def test_starters_are_valid(tmp_path: Path, kind: str) -> None:
    """Each names the schema beside it."""
    out = tmp_path / "scenario.yaml"
    result = CliRunner().invoke(app, ["init", kind, "--out", str(out)])
    assert result.exit_code == 0, result.output
    # Without the header, which is that of another machine than those of starters.
    samples.written(tmp_path, samples.RECORDS, "log.swf")
    samples.written(tmp_path, samples.SACCT, "slurm-jobs.txt.gz", packed=True)
    checked = CliRunner().invoke(app, ["validate", "--strict", str(out)])
    assert checked.exit_code == 0, checked.output
    assert out.read_text() == starter_text(kind)
    assert out.read_text().startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    assert json.loads((tmp_path / SCHEMA).read_text())["$schema"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Unless that is asked for."""
    out = samples.written(tmp_path, "mine", "scenario.yaml")
    command = ["init", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 1
    assert out.read_text() == "mine"
    assert CliRunner().invoke(app, [*command, "--force"]).exit_code == 0
