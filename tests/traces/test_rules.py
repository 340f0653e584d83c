"""Rules beyond list scheduling and EASY on real logs, audited."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from tests.real_traces import KTH_SP2, trace

SCENARIOS = Path(__file__).parents[2] / "scenarios"
RULES = (
    "prb",
    "relaxed",
    "conservative",
    "slack",
    "{name: easy, order: {name: expected-wait, other: 1h}, backfill_order: sjf}",
    "{name: easy, allocator: balanced}",
    "{name: easy, allocator: weighted}",
    "{name: easy, allocator: hybrid}",
)


def check(scenario: str, dispatcher: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Replay 2,000 jobs with requested times as predictions, and have the run verified."""
    override = ["--set", "trace.jobs=2000", "--set", f"dispatcher={dispatcher}"]
    predictor = ["--set", "predictor=requested-time", "--set", "observers=[reasons]"]
    path = str(SCENARIOS / scenario)
    assert main(["run", path, *override, *predictor, "--out", str(out)]) == 0
    assert "2000 jobs submitted: 2000 completed" in capsys.readouterr().out
    assert main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.endswith("\nok\n")


@pytest.mark.slow
@pytest.mark.parametrize("dispatcher", RULES)
def test_on_kth_sp2(dispatcher: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Slots are counted; reasons are asked for in every round."""
    trace(KTH_SP2)
    check("kth-easy.yaml", dispatcher, tmp_path / "out", capsys)


@pytest.mark.slow
@pytest.mark.parametrize("dispatcher", RULES)
def test_on_cerit_sc(dispatcher: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cores and memory on unlike nodes, some jobs bound to nodes, some exclusive."""
    trace("CERIT-SC-2013.swf.gz")
    check("cerit-easy.yaml", dispatcher, tmp_path / "out", capsys)
