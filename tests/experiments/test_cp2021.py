"""The tables of CP 2021: the paper's times beside ours."""

from pathlib import Path

from comparisons.command import Drawing
from comparisons.finished import LabelledRun, read_finished
from cp2021 import content_of
from hpcsched.runs.directory import RunDirectory
from tests.docs.pages import tables
from tests.experiments.samples import (
    AXES,
    place_of,
    write_experiment,
    write_folder,
    write_run,
)


def test_the_tables(tmp_path):
    """Rows are the paper's; what is not there is a dash, and what did not end there is ∞."""
    experiment = write_experiment(tmp_path)
    out = tmp_path / "out"
    write_folder(experiment, out)
    cell, place = place_of(experiment, out, "actual_AF_REG")
    metrics = {"mean_slowdown": 1.234, "mean_wait_time": 1234.5}
    write_run(cell, place, metrics, decision_time=0.0123)
    run = RunDirectory.open(place)
    finished = read_finished(out, AXES)
    for trace, dispatcher, predictor in (("eurora", "pcp21", "D"), ("kit", "pcp19", "R")):
        labels = {"system": trace, "dispatcher": dispatcher, "predictor": predictor}
        finished.runs.append(LabelledRun(labels, run))  # type: ignore[attr-defined]
    eurora, kit = (
        tables(str(part))[0] for part in content_of(finished, Drawing(Path(), {}, whole=True))
    )
    assert [row[0] for row in eurora[1:]] == [
        f"{name}-{letter}" for letter in "DR" for name in ("HCP'19", "PCP'19", "PCP'21")
    ]
    assert [row[0] for row in kit[1:5]] == ["HCP'19-L2", "PCP'19-L2", "PCP'21-L2", "PCP'21s-L2"]
    ours = ["12", "1", "1", "1.23", "1,234"]
    assert eurora[3] == ["PCP'21-D", "209", "12.3", "111,373", "90", *ours]
    assert eurora[1] == ["HCP'19-D", "392", "–", "208,231", *["–"] * 6]
    assert kit[6] == ["PCP'19-R", "∞", "12.3", "∞", "90", *ours]
