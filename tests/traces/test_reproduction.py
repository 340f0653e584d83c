"""Reruns the figures of docs/reproduction.md: scenario files, the command line, and an audit."""

import json

import pytest

from hpcsched import cli
from tests.docs.pages import ROOT
from tests.docs.reproduction import METRICS, figures
from tests.real_traces import KTH_SP2, trace

QUICK = ("kth-easy", "actual")
RUNS = [
    pytest.param(name, predictor, marks=() if (name, predictor) == QUICK else pytest.mark.slow)
    for predictor in ("actual", "requested-time")
    for name in figures(predictor)
]


@pytest.fixture(scope="module", autouse=True)
def _log():
    """Skip all of this where the log is not at hand."""
    trace(KTH_SP2)


@pytest.mark.parametrize(("name", "predictor"), RUNS)
def test_figures(name, predictor, tmp_path, capsys):
    """A scenario comes to the figures on the page, to all digits shown, and the run is sound."""
    out = tmp_path / name
    scenario = ROOT / "scenarios" / f"{name}.yaml"
    choice = ["--set", f"predictor={predictor}"] if predictor != "actual" else []
    assert cli.main(["run", str(scenario), "--out", str(out), *choice]) == 0
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))

    jobs = summary["jobs"]
    assert (jobs["read"], jobs["submitted"], jobs["completed"]) == (28489, 28481, 28481)
    assert jobs["skipped"] == {"zero_run_time": 8}
    assert jobs["clipped"] == {"over_requested_time": 475}
    for column, shown in figures(predictor)[name].items():
        digits = len(shown.partition(".")[2])
        assert f"{summary['metrics'][METRICS[column]]:.{digits}f}" == shown, column

    capsys.readouterr()
    assert cli.main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "ok"
