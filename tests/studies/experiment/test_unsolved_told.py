"""An experiment warns of cells whose solver had too often no plan."""

from pathlib import Path

import pytest

from hpcsched.cli import experiment as command_module
from hpcsched.cli import main
from hpcsched.studies.experiment.execution import run_cells
from hpcsched.studies.experiment.folder import ExperimentFolder
from tests.solver_plugins import hopeless_solver
from tests.studies.experiment.samples import EXPERIMENT, HereAndNow, read_sample

MATRIX = EXPERIMENT.replace(
    "[reject, {name: list, order: sjf}]", "[easy, {name: cp, solver: hopeless, guard: null}]"
).replace("[none, sjf]", "[easy, hopeless]")


def test_an_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are named with their numbers, or counted where they are many; then comes what to do.

    `--list` has the numbers too.
    """
    with hopeless_solver():
        sample = read_sample(tmp_path, MATRIX.replace("[5, 9]", "[9, 12]"))
        folder = ExperimentFolder(tmp_path / "out")
        with folder.locked():
            list(run_cells(sample.cells, folder, HereAndNow()))
        told = {}
        for cell in sample.cells:
            run = folder.run_of(cell)
            assert run is not None
            n = run.summary["rounds"]["asked_solver"]
            told[cell.name] = f"{n} of {n} rounds with a solver had no plan: failed {n}"
            assert (n > 0) == cell.name.startswith("hopeless")
        command = ["experiment", str(tmp_path / "tiny.yaml"), "--out", str(folder.path)]
        assert main(command) == 0
        *_, first, second, last = capsys.readouterr().err.splitlines()
        assert first == f"warning: hopeless_9: {told['hopeless_9']}"
        assert second == f"warning: hopeless_12: {told['hopeless_12']}"
        assert last == (
            "warning: 2 of 4 cells: above 10 % figures tell of the fallback rather than of the"
            " solver: check that the solver works"
        )
        monkeypatch.setattr(command_module, "_MOST_NAMED", 1)
        assert main(command) == 0
        *_, first, second, _ = capsys.readouterr().err.splitlines()
        assert first == f"warning: hopeless_9: {told['hopeless_9']}"
        assert second == "warning: likewise 1 others"
        assert main([*command, "--list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].endswith("easy_9 (seed 7)")
        assert lines[2].endswith(f"hopeless_9 (seed 7): {told['hopeless_9']}")
        assert main([*command, "--only", "easy"]) == 0
        assert "warning" not in capsys.readouterr().err
