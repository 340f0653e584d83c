"""Cells are the runs that a comparison declares, and know whether they are done."""

import pytest

from experiments.cell import finished
from experiments.debs2024.cells import cells
from hpcsched.errors import InputError
from tests.experiments.samples import DECLARATION, cell_named, experiment_in, write_run


def test_a_cell_for_each_run_in_each_half(tmp_path):
    """A run that declares its halves has a cell in these alone."""
    found = cells(experiment_in(tmp_path), tmp_path / "out")
    assert [cell.name for cell in found] == [
        "actual/REG",
        "actual/SJF+",
        "actual/EASY",
        "requested-time/REG",
        "requested-time/SJF+",
    ]
    assert [cell.folder.relative_to(tmp_path / "out").as_posix() for cell in found] == [
        cell.name for cell in found
    ]


def test_a_cell_is_a_variation_of_the_scenario(tmp_path):
    """What is declared is put into the scenario; all else stays."""
    text = DECLARATION.replace("halves: [actual]", "simulation: {pooling: false}")
    experiment = experiment_in(tmp_path, text)
    cell = cell_named(experiment, tmp_path, "requested-time/SJF+")
    scenario = cell.load()
    assert scenario.name == "small-requested-time-SJF-plus"
    assert scenario.predictor.plugin_name == "requested-time"
    assert scenario.objective.plugin_name == "af"
    assert scenario.dispatcher.order.plugin_name == "sjf"
    assert scenario.trace.path == str(tmp_path / "log.swf")
    assert scenario.simulation.pooling
    assert not cell_named(experiment, tmp_path, "actual/EASY").load().simulation.pooling


def test_the_first_jobs_alone(tmp_path):
    """Every cell then replays as many."""
    found = cells(experiment_in(tmp_path), tmp_path, first=7)
    assert {cell.load().trace.jobs for cell in found} == {7}


def test_some_runs_alone(tmp_path):
    """What all is compared with is always run."""
    found = cells(experiment_in(tmp_path), tmp_path, ["EASY"])
    assert [cell.name for cell in found] == ["actual/REG", "actual/EASY", "requested-time/REG"]


def test_an_unknown_label(tmp_path):
    """A label that is not declared is refused."""
    with pytest.raises(InputError, match=r"no run 'SJF'; there are: REG, SJF\+, EASY"):
        cells(experiment_in(tmp_path), tmp_path, ["SJF"])


def test_finished_runs(tmp_path):
    """Only a complete run of just this scenario counts."""
    experiment = experiment_in(tmp_path)
    cell = cell_named(experiment, tmp_path / "out", "actual/REG")
    assert finished(cell, cell.load()) is None
    write_run(cell, {})
    assert finished(cell, cell.load()) is not None
    (fewer,) = cells(experiment, tmp_path / "out", ["REG"], first=7)[:1]
    assert fewer.folder == cell.folder
    assert finished(fewer, fewer.load()) is None

    broken_off = cell_named(experiment, tmp_path / "out", "actual/EASY")
    write_run(broken_off, {}, status="interrupted")
    assert finished(broken_off, broken_off.load()) is None
