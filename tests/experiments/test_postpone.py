"""The comparison of schedule-or-postpone with CP-SAT: its table, from tables made by hand."""

import pytest

import postpone
from hpcsched.studies.problems.solving import Pairing
from tests.studies.problems.tables import pair


def test_a_line_of_the_table(tmp_path):
    """Over the nine problems of which both asked a solver; fails are known of three.

    Times B / A are 0.06, 0.1, 0.5, 0.95, 1, 1.05, 2, 4 and 16, fails B / A 0, 0.5 and 2.
    """
    pairing = Pairing(*pair(tmp_path))
    assert list(postpone._cells(pairing)) == [
        "9",
        "0, 0",
        "1, 1",
        "2, 2, 2",
        "1000.0, 1000.0",
        "4, 2",
        "0.5, 1, 2",
        "0.25, 0.5, 1.2",
        "2 of 3",
    ]


def test_what_goes_wrong_is_one_line(tmp_path, capsys):
    """A folder that cannot be written to."""
    (tmp_path / "file").write_text("")
    assert postpone.main([str(tmp_path / "file" / "runs")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_the_whole(tmp_path, monkeypatch, capsys):
    """A few problems, recorded, asked and shown."""
    monkeypatch.setattr(postpone, "DISPATCHERS", {"joint-now": "name: joint-now"})
    assert postpone.main([str(tmp_path), "--problems", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3].startswith("| dispatcher | problems |")
    assert lines[-1].startswith("| joint-now | ")
