"""`validate` finds what `run` would refuse at its begin."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.runs.assembly import build_faults
from hpcsched.scenario import load_scenario
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
        "a unit asks for gpu, which no node group has",
    ),
    "a folder in place of a log": ("path: log.swf", "path: ./", "Is a directory"),
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
    assert build_faults(load_scenario(write_scenario(tmp_path))) == ()
