"""Scenarios that are planned off-line: run, verified, compared, refused."""

import json
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = """\
name: sixty
system:
  groups:
    - {name: node, count: 16, resources: {core: 1}}
trace: {source: swf, path: sixty.swf, unit: {core: 1}}
predictor: actual
dispatcher: order-search
objective: af
simulation: {mode: offline}
"""

LISTS = ("fcfs", "sjf", "saf", "laf", "spf")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a scenario of 60 jobs that come in ten crowds, each too large for the machine."""
    random, lines, submit = Random(5), [], 0
    for job in range(60):
        if job % 6 == 0:
            submit += 20_000
        submit += random.choice([0, 20, 90])
        run_time, cores = random.randint(60, 1500), random.choice([2, 5, 6, 7, 9, 12])
        fields = [job + 1, submit, -1, run_time, cores, -1, -1, cores, run_time, *[-1] * 9]
        lines.append(" ".join(map(str, fields)))
    (tmp_path / "sixty.swf").write_text("\n".join(lines) + "\n")
    path = tmp_path / "sixty.yaml"
    path.write_text(SCENARIO)
    return path


def hpcsched(*arguments: str | Path) -> str:
    """Run a command, which must do well, and return what it prints."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "objective",
    ["af", *(pytest.param(n, marks=pytest.mark.slow) for n in ("awf", "bounded_slowdown"))],
)
def test_sixty_jobs_are_planned_and_proved(scenario: Path, tmp_path: Path, objective: str) -> None:
    """Every on-line list scheduler is worse than what is proved to be the best."""
    out = tmp_path / "out"
    said = hpcsched("run", scenario, "--set", f"objective={objective}", "--out", out)
    assert "proved to be the best possible" in said
    offline = json.loads((out / "summary.json").read_text())["offline"]
    assert offline["proved"] is True
    assert offline["lower_bound"] <= offline["value"]
    assert "the off-line plan is not better than its lower bound" in hpcsched("verify", out)
    for order in LISTS:
        online = load_scenario(
            scenario,
            [
                f"objective={objective}",
                f"dispatcher={{name: list, order: {order}, option: backfill}}",
                "simulation.mode=online",
            ],
        )
        value = run(online, tmp_path / order).summary["objective"]["value"]
        assert value > offline["value"] * 1.005


def test_a_claim_that_does_not_hold_is_found(scenario: Path, tmp_path: Path) -> None:
    """A bound above the value, and a gap that is not theirs."""
    out = tmp_path / "out"
    hpcsched("run", scenario, "--set", "trace.jobs=18", "--out", out)
    summary = json.loads((out / "summary.json").read_text())
    summary["offline"]["lower_bound"] = summary["offline"]["value"] * 1.01
    (out / "summary.json").write_text(json.dumps(summary))
    result = CliRunner().invoke(app, ["verify", str(out)])
    assert result.exit_code == 1
    assert "offline.lower_bound: expected at most" in result.output
    assert "offline.gap" in result.output


@pytest.mark.parametrize(
    ("change", "key", "line", "message"),
    [
        (("order-search", "easy"), "dispatcher", 7, "'mode: offline' needs a dispatcher that can"),
        (
            ("actual", "requested-time"),
            "predictor",
            6,
            "and requested-time cannot; there are: actual",
        ),
        (
            ("{mode: offline}", "{mode: offline, dispatch_latency: {fixed: 2}}"),
            "simulation.dispatch_latency",
            9,
            "expected no dispatch_latency",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(
    scenario: Path, change: tuple[str, str], key: str, line: int, message: str
) -> None:
    """With the place in the file."""
    scenario.write_text(SCENARIO.replace(*change))
    with pytest.raises(InputError) as caught:
        load_scenario(scenario)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.key, finding.place.line) == ("not-offline", key, line)
    assert message in finding.message


def test_no_instances_are_recorded_of_it(scenario: Path, tmp_path: Path) -> None:
    """There are no rounds at which a dispatcher is asked."""
    out = str(tmp_path / "problems.jsonl")
    result = CliRunner().invoke(app, ["trace", "instances", "record", str(scenario), "--out", out])
    assert isinstance(result.exception, InputError)
    assert "planned off-line" in str(result.exception)


@pytest.mark.parametrize("objective", ["psf", "makespan"])
def test_the_same_dispatcher_is_no_better_on_line(
    scenario: Path, tmp_path: Path, objective: str
) -> None:
    """Planning begins with what it comes to on-line."""
    values = {}
    for mode in ("offline", "online"):
        out = tmp_path / mode
        chosen = f"simulation.mode={mode}"
        hpcsched("run", scenario, "--set", f"objective={objective}", "--set", chosen, "--out", out)
        values[mode] = json.loads((out / "summary.json").read_text())["objective"]["value"]
    assert values["offline"] <= values["online"]
