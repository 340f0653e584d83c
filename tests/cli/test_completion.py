"""What a shell is offered for completion."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand

from hpcsched.cli.options import (
    offered_kinds,
    offered_new_kinds,
    offered_plugins,
    offered_runs,
    offered_settings,
)
from tests.scenario.samples import write


def context(**params: object) -> typer.Context:
    """Return a command line whose parameters so far are these."""
    found = typer.Context(TyperCommand("run"))
    found.params.update(params)
    return found


def test_runs(tmp_path: Path) -> None:
    """Runs and experiments by name, and folders by path; other folders of runs/ are not named."""
    for name, file in (("easy", "manifest.json"), ("matrix", "experiment.json"), ("notes", "a")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / file).touch()
    assert offered_runs("") == ["easy", "matrix", "runs"]
    assert offered_runs("ma") == ["matrix"]
    assert offered_runs("runs/") == ["runs/easy", "runs/matrix", "runs/notes"]
    assert offered_runs("runs/e") == ["runs/easy"]
    assert offered_runs("none/") == []


def test_keys(tmp_path: Path) -> None:
    """The keys of the scenario that is named, defaults included; else those at the top."""
    scenario = write(tmp_path)
    found = offered_settings(context(scenario=scenario), "trace.")
    assert "trace.length=" in found
    assert all(key.startswith("trace.") for key in found)
    several = offered_settings(context(scenarios=[scenario]), "system.groups[0].c")
    assert several == ["system.groups[0].count="]
    assert "dispatcher=" in offered_settings(context(), "")
    scenario.write_text("name: [")
    assert "dispatcher=" in offered_settings(context(scenario=scenario), "disp")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("dispatcher=l", ["dispatcher=list"]),
        ("dispatcher.name=l", ["dispatcher.name=list"]),
        ("trace.source=s", ["trace.source=synthetic"]),
        ("dispatcher.order=f", ["dispatcher.order=fcfs"]),
        ("trace.length=3", []),
    ],
)
def test_values(typed: str, offered: list[str]) -> None:
    """Names of plugins are offered where a key names one."""
    assert offered_settings(context(), typed) == offered


def test_plugins() -> None:
    """Kinds are hyphenated, as `plugins new` wants them; names are those of the kind."""
    assert offered_kinds("tra") == ["trace-source", "transform"]
    assert offered_new_kinds("fo") == ["formulation"]
    assert offered_plugins(context(kind="trace-source"), "fi") == ["file"]
    assert offered_plugins(context(kind="brain"), "") == []


def test_in_a_shell(tmp_path: Path) -> None:
    """Bash asks the program through its environment."""
    (tmp_path / "runs/easy").mkdir(parents=True)
    (tmp_path / "runs/easy/manifest.json").touch()
    asked = {
        "_HPCSCHED_COMPLETE": "complete_bash",
        "COMP_WORDS": "hpcsched verify ea",
        "COMP_CWORD": "2",
    }
    program = "import sys; from hpcsched.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["easy"]
