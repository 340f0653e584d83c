"""The page of an experiment in progress."""

from pathlib import Path

import pytest

from hpcsched import cli
from tests.studies.experiment.samples import run_cells_here, write_sample


def test_of_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last page has all cells; those that were complete before are kept."""
    run_cells_here(monkeypatch)
    file, page = write_sample(tmp_path), tmp_path / "live.html"
    given = ["experiment", str(file), "--out", str(tmp_path / "out"), "--page", str(page)]
    assert cli.main([*given, "--quiet"]) == 0
    text = page.read_text()
    assert "4 of 4 ended" in text
    assert "<th>done</th><td>4</td>" in text
    assert "It has ended." in text
    assert cli.main([*given, "--quiet"]) == 0
    assert "<th>kept</th><td>4</td>" in page.read_text()
