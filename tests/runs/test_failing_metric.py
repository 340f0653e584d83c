"""A metric that fails at the end does not take the finished run with it."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from hpcsched import Plugin, hookimpl
from hpcsched.cli import main
from hpcsched.plugins.manager import build_registry, stand_in

SCENARIO = "scenarios/small-easy.yaml"


class Broken:
    """A metric that has a fault."""

    unit, population = "s", "all jobs"

    def measure(self, run: object) -> float:
        """Divide by nothing."""
        return 1 / 0


@hookimpl
def hpcsched_metrics() -> Iterable[Plugin]:
    """Return the metric."""
    yield Plugin("broken", "Broken.", lambda *_: Broken())


@pytest.fixture(autouse=True)
def _with_the_metric() -> Iterator[None]:
    with stand_in(build_registry(external=False, modules=[sys.modules[__name__]])):
        yield


def test_the_run_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figure is null, the reason is told, and the audit of the run passes."""
    out = tmp_path / "run"
    assert main(["run", SCENARIO, "--set", "trace.jobs=50", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "50 completed" in told
    assert (
        "not measured: metric broken (tests 0): raised ZeroDivisionError: division by zero" in told
    )
    summary = json.loads((out / "summary.json").read_text())
    assert summary["metrics"]["broken"] is None
    assert summary["metrics"]["mean_wait_time"] is not None
    assert json.loads((out / "manifest.json").read_text())["status"] == "complete"
    assert main(["verify", str(out)]) == 0
    assert main(["compare", str(out)]) == 0
