"""The command `verify`, on a run made by the simulator."""

from pathlib import Path

import typer
from typer.testing import CliRunner

from hpcsched.cli.verify import verify
from hpcsched.runner import run
from tests.results.hand_made import tamper_json

APP = typer.Typer()
APP.command()(verify)

SCENARIO = """\
name: verified
system:
  groups:
    - {name: node, count: 4, resources: {core: 2}}
trace: {source: swf, path: trace.swf, unit: {core: 1}}
dispatcher: {name: easy}
objective: {name: psf, alpha: 1.5}
metrics:
  mean_bounded_slowdown: {tau: 60}
  percentiles: [0, 50, 100]
  class_bounds: [30, 60, 5min]
simulation: {kill_at_requested_time: true}
"""


def record(job_id: int, submit: int, run_time: int, processors: int, requested: int) -> str:
    """Return a line of a trace."""
    head = f"{job_id} {submit} -1 {run_time} {processors} -1 -1"
    return f"{head} {processors} {requested} -1 1 1 1 1 1 1 -1 -1"


def test_verify(tmp_path: Path) -> None:
    """A run that is as it was made is fine; one with a changed figure is not, and exits with 1."""
    lines = [record(k, 7 * k, 20 + 31 * k % 400, 1 + 5 * k % 8, 300) for k in range(1, 60)]
    (tmp_path / "trace.swf").write_text("\n".join(lines) + "\n")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    result = run(tmp_path / "scenario.yaml", tmp_path / "out")
    fine = CliRunner().invoke(APP, [str(tmp_path / "out")])
    assert fine.exit_code == 0, fine.output
    assert fine.output.endswith("\nok\n")
    assert len(result.summary["classes"]) == 4
    tamper_json(tmp_path / "out" / "summary.json", lambda s: s["metrics"].update(p2sf=1.0))
    wrong = CliRunner().invoke(APP, [str(tmp_path / "out")])
    assert wrong.exit_code == 1
    assert "metrics.p2sf: expected" in wrong.output
    assert wrong.output.endswith("\nnot ok\n")
