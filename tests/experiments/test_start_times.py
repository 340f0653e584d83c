"""Forecasts of start times beside a regression: scores, tables, and the page."""

from types import MappingProxyType

import numpy as np
import pytest

import start_times as command
from comparisons.start_times import rivals
from comparisons.start_times.rivals import features, rival_scores
from hpcsched.scenario import load_scenario
from hpcsched.studies.forecast.forecast_evaluation import Scores, chosen_jobs, replayed_starts
from hpcsched.studies.forecast.forecasting import prepare
from tests.docs.pages import tables
from tests.studies.forecast.columns import jobs_of

MEAN = Scores(10, 0.1, 0.2, 400.0, 400.0, 400.0)
OURS = Scores(10, 0.3, 0.5, 100.0, 100.0, 100.0, (0.4, 0.8))


def test_features_by_hand():
    """The third job meets one that has 40 s left, and one that waits.

    Jobs are of one unit, and take what they ask for.
    """
    columns = jobs_of([(0, 1, 100, 100, 1), (50, 1, 30, 30, 1), (60, 1, 20, 20, 1)])
    row = features(columns, np.array([0, 100, 130]))[2]
    assert row.tolist() == [1, 20, 0, 0, 1, 1, 30, 1, 1, 1, 40, 40, 40, 0]


def test_rivals(monkeypatch):
    """The regression has quantiles, the mean one value."""
    monkeypatch.setattr(rivals, "LEVELS", (0.05, 0.25, 0.5, 0.75, 0.95))
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=300"]))
    starts = replayed_starts(prepared)
    chosen = chosen_jobs(prepared, starts, jobs=20, first=0.6)
    assert (chosen >= 180).all()
    found = rival_scores(prepared.columns, starts, chosen, 0.6, 1)
    assert found["regression"].crps < found["mean wait"].crps
    assert 0 < found["regression"].coverage[0] <= found["regression"].coverage[1] <= 1
    assert found["mean wait"].coverage == ()
    assert found == rival_scores(prepared.columns, starts, chosen, 0.6, 1)


def test_tables():
    """Ratios of CRPS are 1 / 4 and 1, so that their geometric mean is 1 / 2."""
    other = {"forecast": MEAN._replace(jobs=30), "regression": OURS, "mean wait": MEAN}
    scores = {
        ("A", "fcfs"): {"forecast": OURS, "regression": OURS, "mean wait": MEAN},
        ("B", "fcfs"): MappingProxyType(other | {"forecast": OURS._replace(jobs=30, crps=400.0)}),
    }
    together, single = (tables(one) for one in command.tables(scores))
    assert together[0][1][1:] == [
        "forecast", "40", "30%", "50%", "40%", "80%", "0.50", "-1.00",
    ]  # fmt: skip
    assert single[0][1:] == [
        ["A", "fcfs", "2", "2", "7", "40%", "80%", "0.75", "0.00"],
        ["B", "fcfs", "7", "2", "7", "40%", "80%", "0.00", "-3.00"],
    ]


def test_the_page(tmp_path, monkeypatch, capsys):
    """Cells that the folder has are kept, and the tables go into the page."""
    asked = []

    def scores_of_cell(cell):
        asked.append(cell.name)
        return {"forecast": OURS, "regression": OURS, "mean wait": MEAN}

    page = tmp_path / "page.md"
    page.write_text("a\n<!-- begin start-times -->\n<!-- end start-times -->\n")
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "scores_of_cell", scores_of_cell)
    monkeypatch.setenv("HPCSCHED_TRACES", str(tmp_path / "none"))
    assert command.main([str(tmp_path / "out")]) == 1
    assert "there is no file" in capsys.readouterr().err
    for name in ("KTH-SP2-1996-2.1", "CTC-SP2-1996-3.1", "SDSC-SP2-1998-4.2", "SDSC-BLUE-2000-4.2"):
        (tmp_path / f"{name}-cln.swf.gz").touch()
    monkeypatch.setenv("HPCSCHED_TRACES", str(tmp_path))
    for _ in range(2):
        assert command.main([str(tmp_path / "out"), "--write-docs"]) == 0
    assert len(asked) == 16
    first, second = tables(page.read_text())
    assert (len(first), len(second)) == (1 + 2 * 3, 1 + 16)


@pytest.mark.slow
def test_a_cell(monkeypatch):
    """All forecasters have scores of the same jobs."""
    monkeypatch.setattr(command, "JOBS", 20)
    monkeypatch.setattr(command, "SAMPLES", 20)
    scenario = load_scenario("scenarios/small-easy.yaml", ["trace.jobs=600"])

    class OneCell:
        seed = 1

        @property
        def scenario(self):
            return scenario

    found = command.scores_of_cell(OneCell())
    assert list(found) == ["forecast", "requested times", "similar jobs", "regression", "mean wait"]
    assert {one.jobs for one in found.values()} == {20}
