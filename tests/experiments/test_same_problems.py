"""Problems that several dispatchers were asked: the tables and figures of three papers."""

import numpy as np
import pytest

import same_problems as command
from comparisons.command import Drawing
from comparisons.same_problems.papers import PAPERS, PCP4, PCP20
from comparisons.same_problems.plots import draw
from comparisons.same_problems.questions import DISPATCHERS, PREDICTORS, Answers
from comparisons.same_problems.table import counts, groups, ratios
from hpcsched.studies.problems.solving import Pairing
from tests.docs.pages import tables
from tests.studies.problems.tables import pair

THESIS = PAPERS["thesis2020"]


@pytest.fixture
def pairings(tmp_path):
    """Return the ten problems of `pair`, of which six have values that can be compared."""
    return {(PCP4, "D"): Pairing(*pair(tmp_path))}


def test_ratios(pairings):
    """Of fails, 0, 0.5 and 2 are known."""
    (table,) = tables(ratios(THESIS, pairings))
    assert [row[1] for row in table[1:]] == [
        "decision variables", "decision time", "fails", "objective",
    ]  # fmt: skip
    assert table[3] == [
        "PCP₄ / PCP₃, D", "fails", "3", "0.25", "0.5", "1.2", "33%", "67%", "33%",
    ]  # fmt: skip


def test_counts_and_groups(pairings):
    """Two of six problems are better, the same and worse; one of each is not solved.

    Of group 1 are 1, better and faster, and 3, the same and as fast; of group 2 are 2, better and
    slower, and 5, worse and faster; of group 3 are 4 and 6.
    """
    (table,) = tables(counts(THESIS, pairings))
    assert [row[1] for row in table[1:]] == [
        "311,506", "23,427 (8%)", "275,457 (88%)", "12,622 (4%)", "6", "254",
    ]  # fmt: skip
    assert [row[2] for row in table[1:]] == ["6", "2 (33%)", "2 (33%)", "2 (33%)", "1", "1"]
    (table,) = tables(groups(THESIS, pairings))
    assert table[1:] == [["1", "67.1", "33.3"], ["2", "3.9", "33.3"], ["3", "29.0", "33.3"]]


def test_figures(pairings, tmp_path):
    """Each figure is drawn where there are problems, and left out where there are none."""
    asked = Answers({}, np.arange(1.0, 11.0), np.linspace(0.5, 2.0, 10))
    drawing = Drawing(tmp_path / "figures", {"png": 50}, whole=False)
    for figure in THESIS.figures:
        drawn = draw(THESIS, figure, {"D": asked}, pairings, drawing)
        assert (drawn is not None) == (PCP4 in figure.pairs), figure
        if drawn is not None:
            assert drawn.files == [tmp_path / "figures" / f"{figure.name}.png"]
            assert drawn.files[0].is_file()
    assert PCP20 in THESIS.figures[0].pairs
    (of_fails, both) = PAPERS["cp2021"].figures[2:]
    as_pcp21 = {(of_fails.pairs[0], "D"): pairings[PCP4, "D"]}
    for figure in (of_fails, both):
        assert draw(PAPERS["cp2021"], figure, {"D": asked}, as_pcp21, drawing) is not None


def test_what_is_not_there_is_one_line(tmp_path, capsys):
    """A folder without answers."""
    assert command.main([str(tmp_path), "--answered"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_the_whole(tmp_path, capsys):
    """A few problems, recorded, asked and shown."""
    assert command.main([str(tmp_path), "--problems", "2"]) == 0
    answered = {path.stem for path in tmp_path.glob("*.parquet")}
    assert answered == {f"{name}-{letter}" for name in DISPATCHERS for letter in PREDICTORS}
    first = capsys.readouterr().out
    assert command.main([str(tmp_path), "--answered"]) == 0
    assert first.endswith(capsys.readouterr().out)
