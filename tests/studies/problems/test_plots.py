"""Figures are vector files that can be read, and equal for equal tables."""

from xml.etree import ElementTree

import numpy as np
import pytest

from hpcsched.errors import InputError
from hpcsched.studies.problems.comparison import Pairing
from hpcsched.studies.problems.comparison_plots import GRID, distinct, draw
from tests.report.figures.described import texts
from tests.studies.problems.tables import pair, row, table

NAMES = (
    "decision-variables-ratio",
    "decision-time-ratio",
    "fails-ratio",
    "objective-ratio",
    "objective-scatter",
)


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    """Return a pairing, the folder in which its figures were drawn, and what drawing answered."""
    folder = tmp_path_factory.mktemp("drawing")
    pairing = Pairing(*pair(folder))
    return pairing, folder / "figures", draw(pairing, folder / "figures")


def test_figures(drawing):
    """Each is there as PDF and SVG, whole, and says what it shows."""
    _, folder, (drawn, missing) = drawing
    assert missing == []
    assert [path.name for path in drawn] == [
        f"{name}.{kind}" for name in NAMES for kind in ("pdf", "svg")
    ]
    for path in drawn:
        if path.suffix == ".pdf":
            data = path.read_bytes()
            assert data.startswith(b"%PDF-")
            assert data.rstrip().endswith(b"%%EOF")
        else:
            root = ElementTree.parse(path).getroot()
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "<image" not in path.read_text(encoding="utf-8")
    assert "decision variables: b / a" in texts(folder / "decision-variables-ratio.svg")
    assert "10 problems; left of the line, b needs less" in texts(
        folder / "decision-time-ratio.svg"
    )
    scatter = texts(folder / "objective-scatter.svg")
    assert {"objective of a", "objective of b", "b better: 33.3 %"} <= set(scatter)


def test_equal_tables_give_equal_bytes(drawing, tmp_path):
    """Figures carry no date and no random names."""
    pairing, _, (first, _) = drawing
    second, _ = draw(pairing, tmp_path / "two")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_without_values(tmp_path):
    """What has no values is not drawn, and that is said."""
    a, b = (table(tmp_path / f"{name}.parquet", [row(1), row(2)]) for name in "ab")
    drawn, missing = draw(Pairing(a, b), tmp_path / "figures", ["svg"])
    assert [path.name for path in drawn] == ["decision-time-ratio.svg"]
    assert len(missing) == 4
    assert missing[0] == "decision-variables-ratio: there is no problem with values of both"


def test_points_that_look_alike_are_one():
    """A vector file of hundreds of thousands of points could not be opened."""
    x = np.geomspace(1, 1000, 100_000)
    kept = distinct(x, x)
    assert kept[0] == 0
    assert len(kept) == GRID + 1
    # Each decade has a third of them, as it has a third of the axis.
    assert abs(np.sum(x[kept] < 10) - GRID / 3) <= 1
    assert distinct(np.array([0.0, 0.0, 5.0]), np.array([1.0, 1.0, 1.0])).tolist() == [0, 2]
    assert distinct(np.empty(0), np.empty(0)).tolist() == []


def test_targets(tmp_path):
    """Figures that are there stay, unless they are to be replaced."""
    pairing = Pairing(*pair(tmp_path))
    mine = tmp_path / "objective-ratio.pdf"
    mine.write_text("mine")
    with pytest.raises(InputError, match="it is there already; force=True replaces it"):
        draw(pairing, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.parquet", "b.parquet", "objective-ratio.pdf",
    ]  # fmt: skip
    draw(pairing, tmp_path, ["pdf"], force=True)
    assert mine.read_bytes().startswith(b"%PDF-")
    with pytest.raises(InputError, match="it is a file, not a directory"):
        draw(pairing, mine)
