"""Files of an evaluation of predictors."""

import csv
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.studies.predictor_evaluation import ACCURACIES, ERRORS, Shares
from hpcsched.studies.predictor_plots import check_folder, write_evaluation
from tests.studies.test_predictor_figures import ASKED

HALF = tuple(0.5 if accuracy < 1 else 1.0 for accuracy in ACCURACIES)
CLASSES = (0.25, 0.75, *(0.0 for _ in ERRORS[2:]))
SHARES = Shares({"requested-time": HALF}, {"requested-time": CLASSES})
NUMBERS = ["absolute-error.csv", "accuracy.csv", "predictors.csv"]
PLOTS = [f"{name}.{kind}" for name in ("absolute-error", "accuracy") for kind in ("png", "svg")]


def read(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_all_files(tmp_path: Path) -> None:
    """Each plot has its numbers beside it, and all paths are told."""
    folder = tmp_path / "new" / "evaluation"
    paths = write_evaluation([ASKED], SHARES, folder, force=False)
    assert sorted(path.name for path in paths) == sorted([*NUMBERS, *PLOTS])
    assert sorted(folder.iterdir()) == sorted(paths)
    assert (folder / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (folder / "absolute-error.svg").read_text()
    header, *rows = read(folder / "accuracy.csv")
    assert header == ["accuracy_up_to", "requested-time"]
    assert [rows[k] for k in (0, 99, 100, 200)] == [
        ["0.0", "0.5"], ["0.99", "0.5"], ["1.0", "1.0"], ["2.0", "1.0"],
    ]  # fmt: skip
    header, *rows = read(folder / "absolute-error.csv")
    assert header == ["from_seconds", "below_seconds", "requested-time"]
    # The last class has no end.
    assert [rows[0], rows[1], rows[-1]] == [
        ["0", "1", "0.25"], ["1", "10", "0.75"], ["86400", "", "0.0"],
    ]  # fmt: skip
    assert ["requested-time", "", "jobs", "2000"] in read(folder / "predictors.csv")


def test_without_jobs_nothing_is_plotted(tmp_path: Path) -> None:
    """Distributions have their header alone."""
    paths = write_evaluation([ASKED], Shares({}, {}), tmp_path, force=False)
    assert sorted(path.name for path in paths) == NUMBERS
    assert read(tmp_path / "accuracy.csv") == [["accuracy_up_to"]]
    assert read(tmp_path / "absolute-error.csv") == [["from_seconds", "below_seconds"]]


@pytest.mark.parametrize("name", [*NUMBERS, *PLOTS])
def test_no_file_is_replaced_unless_forced(name: str, tmp_path: Path) -> None:
    """A file that an evaluation would write is refused before it begins, and kept."""
    (tmp_path / "others.csv").write_text("mine")
    check_folder(tmp_path, force=False)
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=name):
        check_folder(tmp_path, force=False)
    check_folder(tmp_path, force=True)
    assert (tmp_path / name).read_text() == "mine"


def test_files_that_are_there(tmp_path: Path) -> None:
    """With force they are replaced, and else the first of them ends the writing."""
    nothing = Shares({}, {})
    (tmp_path / "predictors.csv").write_text("mine")
    with pytest.raises(InputError, match=r"predictors\.csv"):
        write_evaluation([ASKED], nothing, tmp_path, force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["predictors.csv"]
    write_evaluation([ASKED], nothing, tmp_path, force=True)
    assert read(tmp_path / "predictors.csv")[0][0] == "predictor"
