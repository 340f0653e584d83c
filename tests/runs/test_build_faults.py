"""`validate` finds what `run` would refuse at its begin."""

import re
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.runs.assembly import build_faults
from hpcsched.scenario import read_scenario
from tests.runs.small_scenario import write_scenario

WRONG = {
    "an objective without a planned cost": (
        "dispatcher: {name: list, order: fcfs}",
        "dispatcher: hcp19\nobjective: psf",
        "objective p2sf cannot be planned for",
    ),
    "a unit of a type that no node has": (
        "path: log.swf",
        "path: log.swf, unit: {gpu: 1}",
        "trace.unit: a unit asks for gpu, which no node group has",
    ),
    "a source that makes jobs up, for another system": (
        "trace: {source: swf, path: log.swf}",
        "trace: {source: eurora-like}",
        "trace: the trace source 'eurora-like' asks for mem, which no node group has",
    ),
    "a folder in place of a log": (
        "path: log.swf",
        "path: ./",
        "expected a file, found the folder",
    ),
    "a log of another format": (
        "source: swf, path: log.swf",
        "source: slurm-sacct, path: log.swf",
        "trace.source: expected a log that slurm-sacct reads, found Standard Workload Format",
    ),
}


@pytest.mark.parametrize(("old", "new", "said"), WRONG.values(), ids=WRONG)
def test_what_run_refuses(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands end with 1 and say the same."""
    path = write_scenario(tmp_path)
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    assert cli.main(["validate", str(path)]) == 1
    found = capsys.readouterr().out
    assert said in found
    # A line and a column of the scenario, whatever part complains.
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: error: ", found)
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    refused = capsys.readouterr().err.splitlines()
    assert refused[-1] in found.splitlines()


def test_a_cell_of_an_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fault of one cell is told, and told once."""
    write_scenario(tmp_path)
    file = tmp_path / "matrix.yaml"
    file.write_text(
        "name: matrix\nscenario: small.yaml\n"
        "matrix:\n  - dispatcher: [easy, hcp19]\n  - objective: [af, psf]\n"
        "  - trace.jobs: [1, 2]\n"
    )
    assert cli.main(["validate", str(file)]) == 1
    assert capsys.readouterr().out.count("objective p2sf cannot be planned for") == 1


def test_nothing_wrong(tmp_path: Path) -> None:
    """What can be built has no faults."""
    assert build_faults(read_scenario(write_scenario(tmp_path))) == ()


def test_files_of_variants_and_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Variants and ranges are built too; without a scenario only their own keys are checked."""
    scenario, vary, space = write_scenario(tmp_path), tmp_path / "vary.yaml", tmp_path / "s.yaml"
    vary.write_text("variants:\n  - {name: a, set: {dispatcher: hcp19, objective: psf}}\n")
    assert cli.main(["validate", str(scenario), "--vary", str(vary)]) == 1
    found = capsys.readouterr().out
    assert f"{vary}:2:51: error: objective: objective p2sf cannot be planned for" in found
    space.write_text("parameters:\n  dispatcher.order: {values: [fcfs, sjff]}\n")
    assert cli.main(["validate", str(scenario), "--space", str(space)]) == 1
    assert f"{space}:2:21: error: dispatcher.order: no queue order" in capsys.readouterr().out
    for file, option in ((vary, "--vary"), (space, "--space")):
        assert cli.main(["validate", str(file)]) == 0
        said = f"{file}:1:1: warning: a file with .*: hpcsched validate SCENARIO {option} {file}"
        assert re.match(said, capsys.readouterr().out)
    vary.write_text("variants:\n  - {nam: a}\n")
    assert cli.main(["validate", str(vary)]) == 1
    assert "did you mean 'name'?" in capsys.readouterr().out


def test_variants_of_several_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Variants belong to one scenario."""
    files = [str(write_scenario(tmp_path)), str(write_scenario(tmp_path))]
    assert cli.main(["validate", *files, "--vary", "a.yaml"]) == 2
    assert "give one scenario with it" in capsys.readouterr().err
