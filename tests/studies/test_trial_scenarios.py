"""Scenarios made for a log are commented, and run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.scenario.document import parse_document
from hpcsched.studies.first_look import (
    KINDS,
    SCHEMA,
    Configuration,
    Machine,
    TrialLog,
    configurations,
    scenario_text,
    starter_text,
)
from hpcsched.workload.log_recognition import format_of_log
from tests.studies import first_look_samples as samples


def test_dispatchers_and_orders() -> None:
    """The name of an order means a list."""
    found = configurations(["easy", "sjf"])
    assert found == [
        Configuration("easy", "dispatcher: easy"),
        Configuration("sjf", "dispatcher: {name: list, order: sjf}"),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [(["EASY"], "did you mean 'easy'"), (["zzz"], "called 'zzz'"), (["easy", "easy"], "twice")],
)
def test_bad_names(names: list[str], message: str) -> None:
    """The nearest right one is told."""
    with pytest.raises(InputError, match=message):
        configurations(names)


@pytest.mark.parametrize("text", [samples.SWF, samples.SACCT, samples.PBS, samples.BATSIM])
@pytest.mark.parametrize("jobs", [None, 7])
def test_the_text_is_a_scenario(tmp_path: Path, text: str, jobs: int | None) -> None:
    """Its trace is the log with so many jobs."""
    path = samples.written(tmp_path, text, "a 'log': of jobs")
    log = TrialLog(path, format_of_log(path), jobs)
    made = scenario_text(
        Configuration("easy", "dispatcher: easy"), log, Machine(3, 4, "as given"), "af"
    )
    assert parse_document(made).value["trace"]["path"] == str(path)
    (tmp_path / "made.yaml").write_text(made)
    scenario = load_scenario(tmp_path / "made.yaml")
    assert scenario.trace.jobs == jobs
    assert scenario.objective.plugin_name == "mean_response_time"
    (group,) = scenario.system.groups
    assert (group.count, group.resources) == (3, {"core": 4})
    assert "# as given" in made


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
