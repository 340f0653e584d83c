"""Files that vary a scenario: faults with their places, and names of cells."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from hpcsched.errors import InputError, Place
from hpcsched.scenario.document import parse_document
from hpcsched.studies.cell import Cell, DeclaredSetting, cell_name, read_declaration, told_apart
from tests.studies.experiment_samples import read_sample

TEXT = """\
title: a
sizes: [1, 2]
more: {deep: {down: 3}}
"""


class Study(BaseModel):
    """A declaration with a title and sizes."""

    model_config = ConfigDict(strict=True, extra="allow")
    title: str
    sizes: list[int]


def read(folder: Path, text: str, executor: str | None = None) -> Study:
    """Return the declaration in a text."""
    path = folder / "study.yaml"
    path.write_text(text)
    return read_declaration(Study, path, executor=executor)[0]


def faults(folder: Path, text: str, executor: str | None = None) -> list[str]:
    """Return all that is said of a text at fault."""
    with pytest.raises(InputError) as caught:
        read(folder, text, executor)
    return [str(finding).removeprefix(f"{folder}/") for finding in caught.value.findings]


def test_a_declaration(tmp_path: Path) -> None:
    """Values are those of the text."""
    study = read(tmp_path, TEXT)
    assert (study.title, study.sizes) == ("a", [1, 2])


def test_all_faults_of_values_by_their_place(tmp_path: Path) -> None:
    """Line and column of each value, in the order of the file."""
    first, second = faults(tmp_path, "sizes: [1, x, 3]\ntitle: 5\n")
    assert first.startswith("study.yaml:1:12: error: sizes[1]: expected ")
    assert second.startswith("study.yaml:2:8: error: title: expected ")


def test_faults_of_the_text(tmp_path: Path) -> None:
    """A key that is given twice leaves nothing to validate; a given executor is told beside it."""
    found = faults(tmp_path, "title: 5\ntitle: 6\n", "[")
    assert found[0].startswith("study.yaml:2:1: error: title: the key 'title' is given")
    assert found[1].startswith("--set executor=[: error: executor: not valid YAML")
    assert len(found) == 2


def test_a_setting_points_into_its_file() -> None:
    """A place within the value is told there; the key of the value itself is not the fault."""
    places = parse_document(TEXT, "study.yaml")
    setting = DeclaredSetting(
        ("trace",), {"down": 3}, Place("study.yaml", 3, 1), ("more", "deep"), places
    )
    value, inner_key = Place("study.yaml", 3, 14), Place("study.yaml", 3, 15)
    assert setting.place((), on_key=False) == setting.place((), on_key=True) == value
    assert setting.place(("down",), on_key=True) == inner_key
    assert setting.place(("down",), on_key=False) == Place("study.yaml", 3, 21)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (["easy", "5"], "easy_5"),
        (["a b/c", "ü", "1.5"], "a-b-c_-_1.5"),
        (["..", "-x"], "x"),
        (["_", ""], "cell"),
        (["x" * 99, "y" * 9], "x" * 99 + "_"),
    ],
)
def test_names_of_cells(parts: list[str], name: str) -> None:
    """Labels become a file name of at most 100 plain characters that begins with none of `._-`."""
    assert cell_name(parts) == name


def test_cells_of_one_name(tmp_path: Path) -> None:
    """They would have one run; others are returned as they are."""
    cells: list[Cell] = list(read_sample(tmp_path).cells)
    assert told_apart(cells) == cells
    with pytest.raises(InputError, match="two cells are called 'none_9'; give their axes other"):
        told_apart([*cells, cells[1]])
