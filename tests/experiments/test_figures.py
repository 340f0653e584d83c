"""Figures show the runs, the paper's values and the bounds, and are equal for equal runs."""

from comparisons.command import Drawing
from comparisons.debs2024.figures import bars, draw_figures
from comparisons.debs2024.results import Comparison
from hpcsched.report.figures.chart_parts import PALETTE
from tests.experiments.samples import written_comparison
from tests.report.figures.described import texts


def test_bars(tmp_path):
    """Each has its run's colour, its share, its bound and what the paper prints."""
    comparison = written_comparison(tmp_path)
    first, second = (bars(comparison, figure) for figure in comparison.shown.figures)
    assert first == [
        ("SJF+", PALETTE["green"], 75.0, 60.0, 80),
        ("REG", PALETTE["grey"], 100.0, None, None),
        ("EASY", PALETTE["light grey"], 98.3, None, 97),
    ]
    assert second == [
        ("REG", PALETTE["grey"], 100.0, None, None),
        ("SJF+", PALETTE["green"], None, None, None),
    ]


def test_figures_say_what_they_show(tmp_path):
    """The baseline alone is no figure; markers and lines have their names once."""
    comparison = written_comparison(tmp_path)
    (picture,) = draw_figures(comparison, Drawing(tmp_path / "figures", {"svg": 100}, whole=False))
    (drawn,) = picture.files
    shown = texts(drawn)
    assert picture.shows == "Figure 1: Of AF"
    assert drawn.name == "figure-1.svg"
    assert {"Of AF", "AF, % of REG", "SJF+", "75.0", "100.0", "98.3"} <= set(shown)
    assert shown.count("paper") == shown.count("lower bound") == 1
    assert "not run" not in shown


def test_a_figure_of_which_a_run_is_missing(tmp_path):
    """It says so, or is left out where only whole figures are wanted."""
    comparison = written_comparison(tmp_path)
    results = dict(comparison.results)
    del results["actual", "EASY"]
    partly = Comparison(comparison.shown, results)
    (picture,) = draw_figures(partly, Drawing(tmp_path / "figures", {"svg": 100}, whole=False))
    assert "not run" in texts(picture.files[0])
    assert draw_figures(partly, Drawing(tmp_path / "whole", {"svg": 100}, whole=True)) == []
    assert not (tmp_path / "whole").exists()


def test_files(tmp_path):
    """PDF and PNG are written whole, over what was there, and equal runs give equal bytes."""
    comparison = written_comparison(tmp_path)
    folder = tmp_path / "figures"
    drawing = Drawing(folder, {"pdf": 100, "png": 100}, whole=False)
    first, second = (
        [
            path.read_bytes()
            for picture in draw_figures(comparison, drawing)
            for path in picture.files
        ]
        for _ in range(2)
    )
    assert first == second
    assert first[0].startswith(b"%PDF-")
    assert first[1].startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["figure-1.pdf", "figure-1.png"]
