"""Variants of a scenario are read with all findings, each at its place."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.studies.whatif.reading import BASE, read_whatif
from tests.studies.whatif.samples import FEW, SCENARIO, VARIATION, variation


def test_variants_in_order(tmp_path: Path) -> None:
    """Named ones come first; each has its changes, and the settings of the command line."""
    found = read_whatif(SCENARIO, variation(tmp_path), FEW)
    assert (found.name, found.scenario) == ("tried", "small-easy")
    assert [cell.name for cell in found.cells] == [BASE, "shortest-first", "list-fcfs", "list-saf"]
    assert [dict(cell.labels) for cell in found.variants] == [
        {"dispatcher.order": "sjf"},
        {"dispatcher": "list-fcfs"},
        {"dispatcher": "list-saf"},
    ]
    assert len({cell.address for cell in found.cells}) == 4
    assert all("jobs: 200" in cell.text for cell in found.cells)


def test_named_after_the_file(tmp_path: Path) -> None:
    """Without a name the file's own is taken."""
    path = variation(tmp_path, VARIATION.replace("name: tried\n", ""))
    assert read_whatif(SCENARIO, path, FEW).name == "variation"


def findings(tmp_path: Path, text: str) -> list[str]:
    """Return what is wrong with a variation, with line and column."""
    with pytest.raises(InputError) as caught:
        read_whatif(SCENARIO, variation(tmp_path, text), FEW)
    return [
        f"{one.place.line}:{one.place.column} {one.message}" if one.place else one.message
        for one in caught.value.findings
    ]


def test_all_findings_at_once(tmp_path: Path) -> None:
    """Faults of several variants are told, each where it stands."""
    text = """\
variants:
  - {name: a, set: {dispatcher.order: nonsense}}
  - name: b
    set: {dispatcher.depths: 3}
"""
    first, second = findings(tmp_path, text)
    assert first.startswith("2:")
    assert "nonsense" in first
    assert second.startswith("4:")
    assert "depths" in second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: nothing\n", "expected 'variants' or a 'matrix'"),
        ("variants: [{name: a, set: {}}]\n", "found an empty mapping"),
        ("variants: [{name: a, set: {name: b}}]\n", "'name' cannot be set"),
        ("variants: [{name: a, set: {'x..y': b}}]\n", "x..y"),
        ("variants: [{name: base, set: {seed: 1}}]\n", "two cells are called 'base'"),
        ("matrix: [{seed: [1], dispatcher: [easy, list]}]\n", "expected a list of 1 items"),
        ("matrix: [{seed: [1]}]\nexclude: [{seed: 1}]\n", "every"),
        ("variant: []\n", "variant"),
    ],
)
def test_refused(tmp_path: Path, text: str, message: str) -> None:
    """What cannot be expanded is refused in words."""
    assert message in " ".join(findings(tmp_path, text))
