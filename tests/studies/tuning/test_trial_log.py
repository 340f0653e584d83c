"""Trials are kept in a file that belongs to one search."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.studies.tuning.trial_log import Trial, TrialLog

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
