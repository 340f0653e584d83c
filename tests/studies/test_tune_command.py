"""The command `hpcsched tune`: text, JSON, and what is kept."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hpcsched
from hpcsched.cli import app
from hpcsched.studies.tuning_study import (
    Trial,
    best_trial,
    later_table,
    trials_table,
    tune,
    verdict_lines,
)
from tests.studies.tuning_samples import OVERRIDES, SCENARIO, SPACE, small_study, space_file


def asked(folder: Path, *options: str, code: int = 0, text: str = SPACE) -> str:
    """Return what the command prints."""
    space, out = space_file(folder, text), str(folder / "out")
    sets = [part for override in OVERRIDES for part in ("--set", override)]
    command = ["tune", str(SCENARIO), "--space", str(space), "--out", out, *sets, *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == code, result.output
    return result.stdout


def test_files_and_formats(tmp_path: Path) -> None:
    """The same trials are not run twice, and best.yaml is a scenario."""
    text = asked(tmp_path)
    assert "The best trials, on the training window" in text
    trials = (tmp_path / "out" / "trials.jsonl").read_bytes()
    assert len(trials.splitlines()) == 1 + 8
    content = json.loads(asked(tmp_path, "--format", "json"))
    assert content["name"] == "sought"
    assert content == json.loads((tmp_path / "out" / "tuning.json").read_text())
    assert (tmp_path / "out" / "trials.jsonl").read_bytes() == trials
    best = hpcsched.load_scenario(tmp_path / "out" / "best.yaml")
    if content["best"] is not None:
        age = content["best"]["values"]["dispatcher.order.weights.age"]
        assert best.dispatcher.order.weights.age == age


def test_more_trials_later(tmp_path: Path) -> None:
    """They are added to those that are there."""
    asked(tmp_path, "--trials", "4")
    asked(tmp_path, "--trials", "8")
    other = tmp_path / "other"
    other.mkdir()
    asked(other, "--trials", "8")
    trials = [(folder / "out" / "trials.jsonl").read_bytes() for folder in (tmp_path, other)]
    assert trials[0] == trials[1]


def test_another_search_in_the_folder(tmp_path: Path) -> None:
    """It is refused: the trials would not belong together."""
    asked(tmp_path, "--trials", "4")
    asked(tmp_path, code=1, text=SPACE.replace("percent: 10", "percent: 11"))


@pytest.mark.parametrize("constrained", [True, False])
def test_verdict_and_tables(tmp_path: Path, *, constrained: bool) -> None:
    """The best is below the scenario's own objective, or it is said that there is none."""
    text = SPACE if constrained else SPACE.split("constraints:", maxsplit=1)[0]
    study = tune(small_study(tmp_path, text), tmp_path)
    verdict = " ".join(verdict_lines(study))
    assert study.trained is not None
    if study.best is None:
        assert "No trial that keeps the constraints" in verdict
        assert not later_table(study).rows
    else:
        assert study.best.objective is not None
        assert study.best.objective < study.trained
        assert "as it is and tuned" in verdict
        assert [row[0] for row in later_table(study).rows] == ["wait_time", "bounded_slowdown"]
    header = list(trials_table(study).header)
    assert header == ["trial", "weights.age", "weights.size", "favor_small", "objective"]
    objectives = [row[-1] for row in trials_table(study).rows]
    assert objectives == sorted(objectives, key=lambda value: float(value or 0))


def test_the_best_trial() -> None:
    """The lowest that keeps its constraints, below what is to be beaten; the first of equals."""
    trials = [
        Trial(0, {}, 3.0), Trial(1, {}, 1.0, (0.5,)), Trial(2, {}, 2.0), Trial(3, {}, 2.0),
        Trial(4, {}, None),
    ]  # fmt: skip
    best = best_trial(trials, 2.5)
    assert best is not None
    assert best.number == 2
    assert best_trial(trials, 2.0) is None
