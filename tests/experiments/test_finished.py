"""A finished experiment's runs are found by labels, and only those that are whole."""

import pytest

from comparisons.finished import read_finished
from hpcsched.errors import InputError
from tests.experiments.samples import (
    AXES,
    place_of,
    write_experiment,
    write_folder,
    write_run,
    written_out,
)


def test_runs_by_labels(tmp_path):
    """They are in the order of the cells, whatever the index says of them."""
    finished = read_finished(written_out(tmp_path), AXES)
    assert finished.axes["dispatcher"] == ["REG", "SJF", "EASY"]
    found = finished.having(predictor="actual")
    assert [one.labels["dispatcher"] for one in found] == ["REG", "SJF", "EASY"]
    (one,) = finished.having(predictor="actual", dispatcher="SJF")
    assert one.run.summary["metrics"]["mean_response_time"] == 150.0
    assert finished.having(dispatcher="LJF") == []
    assert finished.missing == ["requested-time_AF_SJF"]


def test_what_is_not_whole_is_missing(tmp_path):
    """A run that was broken off, or lacks a file, is as one that is not there."""
    experiment = write_experiment(tmp_path)
    out = tmp_path / "out"
    write_folder(experiment, out)
    cell, place = place_of(experiment, out, "actual_AF_REG")
    write_run(cell, place, {}, status="interrupted")
    cell, place = place_of(experiment, out, "actual_AF_SJF")
    write_run(cell, place, {})
    (place / "summary.json").unlink()
    finished = read_finished(out, AXES)
    assert finished.runs == []
    assert set(finished.missing) == {cell.name for cell in experiment.cells}


def test_another_folder(tmp_path):
    """It is refused where it is no experiment's, or where the experiment has other axes."""
    with pytest.raises(InputError, match=r"it has no experiment\.json"):
        read_finished(tmp_path, AXES)
    out = written_out(tmp_path)
    with pytest.raises(InputError, match="its axes are predictor, objective, dispatcher; expected"):
        read_finished(out, ("predictor", "dispatcher"))
