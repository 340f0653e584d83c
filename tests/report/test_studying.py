"""Comparisons, figures and pages of runs, as notebooks and commands ask for them."""

from pathlib import Path
from typing import Any

import pytest

import hpcsched
from hpcsched.report.page.page import study_page
from hpcsched.report.studied_runs import open_study
from hpcsched.report.studying import compare_study
from tests.runs.small_scenario import write_scenario


@pytest.fixture(name="pair", scope="module")
def _pair(tmp_path_factory: pytest.TempPathFactory) -> list[hpcsched.RunResult]:
    folder = tmp_path_factory.mktemp("pair")
    files = [write_scenario(folder, order, order) for order in ("fcfs", "sjf")]
    return [hpcsched.run(path, folder / "runs" / path.stem) for path in files]


def test_a_comparison(pair: list[hpcsched.RunResult]) -> None:
    """Runs are given as results, directories or a folder; notebooks show the table."""
    table = hpcsched.compare(*pair)
    folder = pair[0].directory.path.parent
    assert str(table) == str(hpcsched.compare(folder)) == str(hpcsched.compare(str(folder)))
    assert "fcfs (baseline)" in str(table)
    assert "sjf (baseline)" in str(hpcsched.compare(*pair, baseline="sjf"))
    assert table._repr_markdown_().startswith("| metric |")


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("boxes", {}),
        ("ecdf", {"of": "wait_time"}),
        ("bars", {"metric": "makespan"}),
        ("load", {"resource": "core"}),
        ("gantt", {"begin": 0, "end": 100}),
        ("decision-time", {}),
    ],
)
def test_figures(pair: list[hpcsched.RunResult], kind: Any, options: dict[str, Any]) -> None:
    """Each kind is a chart with the runs in it."""
    described = hpcsched.plot(kind, *pair, **options).to_json()
    assert "fcfs" in described
    assert "sjf" in described


def test_an_option_of_another_kind(pair: list[hpcsched.RunResult]) -> None:
    """It is refused and not ignored."""
    with pytest.raises(TypeError, match="metric"):
        hpcsched.plot("ecdf", *pair, metric="makespan")


def test_a_report(pair: list[hpcsched.RunResult], tmp_path: Path) -> None:
    """The page is written once, with both runs and their audits."""
    path = hpcsched.write_report(tmp_path / "page.html", *pair, title="Two orders")
    text = path.read_text()
    assert "<title>Two orders</title>" in text
    with pytest.raises(hpcsched.InputError, match="force"):
        hpcsched.write_report(path, *pair)
    assert hpcsched.write_report(path, *pair, title="Again", force=True) == path
    assert "<title>Again</title>" in path.read_text()


def test_the_audit_is_told(pair: list[hpcsched.RunResult]) -> None:
    """Runs whose audit says ok are not named; without audits none is."""
    found = compare_study(open_study([one.directory.path for one in pair]))
    assert study_page(found).not_ok == ()
    assert study_page(found, verify=False).not_ok == ()
