"""The command `verify`, on a run made by the simulator."""

import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from hpcsched.cli.result_commands import verify
from hpcsched.plugins.manager import registry
from hpcsched.runs.runner import run
from tests.runs.hand_made import tamper_json

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


def write_inputs(folder: Path, scenario: str) -> None:
    """Write a scenario, and the trace of 59 jobs that it names."""
    lines = [record(k, 7 * k, 20 + 31 * k % 400, 1 + 5 * k % 8, 300) for k in range(1, 60)]
    (folder / "trace.swf").write_text("\n".join(lines) + "\n")
    (folder / "scenario.yaml").write_text(scenario)


def test_verify(tmp_path: Path) -> None:
    """A run that is as it was made is fine; one with a changed figure is not, and exits with 1."""
    write_inputs(tmp_path, SCENARIO)
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
    out = tmp_path / "audit.json"
    given = [str(tmp_path / "out"), "--replay", "--format", "json", "--out", str(out)]
    assert CliRunner().invoke(APP, given).exit_code == 1
    content = json.loads(out.read_text())
    assert content["ok"] is False
    (bad,) = [check for check in content["checks"] if check["count"]]
    assert bad["violations"][0].startswith("metrics.p2sf: expected")
    assert content["replay"]["checks"][0]["looked_at"] == 59


def test_a_sum_of_all_objectives_is_worked_out_again(tmp_path: Path) -> None:
    """Each built-in objective has a formula here, so a sum of them that is off is found."""
    names = [one.plugin.name for one in registry().of_kind("objective")]
    terms = ", ".join(
        f"{{objective: {name}, weight: 0.5}}" for name in set(names) - {"weighted_sum"}
    )
    summed = f"objective: {{name: weighted_sum, terms: [{terms}]}}"
    write_inputs(tmp_path, SCENARIO.replace("objective: {name: psf, alpha: 1.5}", summed))
    run(tmp_path / "scenario.yaml", tmp_path / "out")
    fine = CliRunner().invoke(APP, [str(tmp_path / "out")])
    assert fine.output.endswith("\nok\n"), fine.output
    assert "the objective" not in fine.output
    tamper_json(tmp_path / "out" / "summary.json", lambda s: s["objective"].update(value=1.0))
    wrong = CliRunner().invoke(APP, [str(tmp_path / "out")])
    assert "objective.value: expected" in wrong.output
