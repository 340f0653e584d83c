"""The dispatchers that a run chose, over time."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures import round_figures as module
from hpcsched.report.figures.round_figures import choice_figure
from hpcsched.report.figures.run_series import ChosenFrom, choice_at
from tests.report.figures.described import units
from tests.report.studies import tables_of, write_studied

CHOICES = (ChosenFrom(1, 0, "easy", "to begin with"), ChosenFrom(4, 30, "list", "it was behind"))


def test_a_bar_for_each_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reaches from 0 to 30 s, the second to the last round; reasons can be read off."""
    tables = tables_of([write_studied(tmp_path / "run")])
    last = tables.study.runs[0].run.rounds.read("now")["now"].to_pylist()[-1]
    monkeypatch.setattr(module, "choices_of", lambda _: CHOICES)
    (bars,) = units(choice_figure(tables).chart)
    assert bars.column("dispatcher") == ["easy", "list"]
    assert bars.column("begin") == [0, 30]
    assert bars.column("end") == [30, last]
    assert bars.column("because") == ["to begin with", "it was behind"]
    assert bars.axis_title("x") == "seconds since the trace's origin"


def test_the_choice_at_a_time() -> None:
    """It is the last one that was made; there is none before the first round."""
    assert choice_at(CHOICES, -1) is None
    assert choice_at(CHOICES, 29) == CHOICES[0]
    assert choice_at(CHOICES, 30) == CHOICES[1]


def test_no_run_chose(tmp_path: Path) -> None:
    """The error says which dispatcher chooses."""
    with pytest.raises(InputError, match="expected one of the dispatcher hyper"):
        choice_figure(tables_of([write_studied(tmp_path / "run")]))
