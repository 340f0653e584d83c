"""Starter scenarios are valid as soon as their logs are there."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.studies.first_look.starter import KINDS, SCHEMA, starter_text
from tests.studies.first_look import samples


@pytest.mark.parametrize("kind", KINDS)
def test_starters_are_valid(tmp_path: Path, kind: str) -> None:
    """Each names the schema beside it."""
    out = tmp_path / "scenario.yaml"
    result = CliRunner().invoke(app, ["init", "scenario", kind, "--out", str(out)])
    assert result.exit_code == 0, result.output
    # Without the header, which is that of another machine than those of starters.
    samples.written(tmp_path, samples.RECORDS, "log.swf")
    checked = CliRunner().invoke(app, ["validate", "--strict", str(out)])
    assert checked.exit_code == 0, checked.output
    assert out.read_text() == starter_text(kind)
    assert out.read_text().startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    assert json.loads((tmp_path / SCHEMA).read_text())["$schema"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Unless that is asked for."""
    out = samples.written(tmp_path, "mine", "scenario.yaml")
    command = ["init", "scenario", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 1
    assert out.read_text() == "mine"
    assert CliRunner().invoke(app, [*command, "--force"]).exit_code == 0


def test_a_log_of_ones_own(tmp_path: Path) -> None:
    """The machine is that of the header, flawed records are left out, and the scenario runs."""
    log = samples.written(tmp_path, f"{samples.SWF}no record\n", "log.swf")
    out = tmp_path / "mine.yaml"
    result = CliRunner().invoke(app, ["init", "log", str(log), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "machine: 4 nodes with 2 cores each, from the log's header" in result.stderr
    assert "count: 4, resources: {core: 2}" in out.read_text()
    assert "malformed: skip  # damaged lines are counted and left out" in out.read_text()
    assert out.read_text().startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    ran = CliRunner().invoke(app, ["run", str(out), "--out", str(tmp_path / "run")])
    assert ran.exit_code == 0, ran.output
    assert "80 jobs submitted: 80 completed" in ran.output


def test_a_second_scenario_in_a_folder(tmp_path: Path) -> None:
    """The schema that the first one wrote stays; another file of its name is not replaced."""
    for name in ("a.yaml", "b.yaml"):
        result = CliRunner().invoke(app, ["init", "scenario", "--out", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
    assert "schema" not in result.output
    (tmp_path / SCHEMA).write_text("{}")
    result = CliRunner().invoke(app, ["init", "scenario", "--out", str(tmp_path / "c.yaml")])
    assert result.exit_code == 1
    assert f"{SCHEMA}: error: it is there already" in str(result.exception)
