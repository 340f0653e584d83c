"""The search comes near to an optimum that is known, and is the same however it is cut."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import hpcsched.studies.tuning_study as searching
from hpcsched.errors import HpcschedError, InputError, PluginError
from hpcsched.studies.study_files import SearchRange
from hpcsched.studies.tuning_study import Trial, TrialLog, search

SPACE = {
    "x": SearchRange(low=0.0, high=10.0),
    "k": SearchRange(low=1, high=1000, log=True),
    "order": SearchRange(values=("fcfs", {"name": "sjf"})),
}


def bowl(number: int, values: Mapping[str, Any]) -> Trial:
    """Return a trial: least at x = 3, of which only x up to 2.5 is allowed; sjf is better by 5."""
    value = (values["x"] - 3) ** 2 + (5 if values["order"] == "fcfs" else 0)
    return Trial(number, dict(values), value, (values["x"] - 2.5,))


def sought(folder: Path, cuts: tuple[int, ...], name: str = "log") -> list[Trial]:
    """Search in several processes, as it were: each goes on from the log of the one before."""
    for upto in cuts:
        log = TrialLog(folder / name, {})
        list(search(SPACE, upto, 7, log, bowl))
    return TrialLog(folder / name, {}).trials


def test_it_finds_the_constrained_optimum(tmp_path: Path) -> None:
    """The best allowed value is 0.25, at x = 2.5 with sjf."""
    trials = sought(tmp_path, (60,))
    assert [trial.number for trial in trials] == list(range(60))
    best = min((t for t in trials if t.keeps_constraints), key=lambda t: t.objective or 0.0)
    assert best.values["order"] == {"name": "sjf"}
    assert best.objective is not None
    assert 0.25 <= best.objective < 0.75
    assert all(isinstance(trial.values["k"], int) for trial in trials)


def test_it_is_the_same_however_it_is_cut(tmp_path: Path) -> None:
    """A search that was stopped after 8 and 20 trials goes on as if it had not been."""
    assert sought(tmp_path, (8, 20, 28), "cut") == sought(tmp_path, (28,), "whole")


def test_failed_trials_are_passed_over(tmp_path: Path) -> None:
    """They count, and the search goes on."""

    def half(number: int, values: Mapping[str, Any]) -> Trial:
        return bowl(number, values) if number % 2 else Trial(number, dict(values), None)

    log = TrialLog(tmp_path / "log", {})
    assert len(list(search(SPACE, 12, 7, log, half))) == 12
    # Those of the log are read as failed ones too.
    assert len(list(search(SPACE, 16, 7, TrialLog(tmp_path / "log", {}), half))) == 4


def test_without_optuna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs it is told."""
    monkeypatch.setattr(searching, "find_spec", lambda _: None)
    with pytest.raises(PluginError, match=r"hpcsched\[tune\]") as caught:
        list(search(SPACE, 1, 7, TrialLog(tmp_path / "log", {}), bowl))
    assert isinstance(caught.value, HpcschedError)


TRIALS = [
    Trial(0, {"depth": 3, "order": {"name": "sjf"}}, 1.5, (-2.0, 0.0)),
    Trial(1, {"depth": 4, "order": "fcfs"}, None, (), "no licence"),
]


def test_what_is_added_is_read(tmp_path: Path) -> None:
    """By another process, with the same content."""
    path = tmp_path / "trials.jsonl"
    TrialLog(path, {"seed": 1}).add(TRIALS)
    assert TrialLog(path, {"seed": 1}).trials == TRIALS


def test_constraints() -> None:
    """An excess of 0 is none; a failed trial keeps nothing."""
    assert [trial.keeps_constraints for trial in TRIALS] == [True, False]
    assert not Trial(2, {}, 1.0, (0.1,)).keeps_constraints


def test_another_search(tmp_path: Path) -> None:
    """Its trials are not mixed with these."""
    path = tmp_path / "trials.jsonl"
    TrialLog(path, {"seed": 1}).add(TRIALS)
    with pytest.raises(InputError, match="another search"):
        TrialLog(path, {"seed": 2})


@pytest.mark.parametrize("text", ["", "{", '{"seed": 1}\n{"number": 0}\n'])
def test_damaged(tmp_path: Path, text: str) -> None:
    """A damaged file is told, with its name."""
    path = tmp_path / "trials.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=r"trials\.jsonl.*damaged"):
        TrialLog(path, {"seed": 1})
