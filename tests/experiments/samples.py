"""A small experiment of the form of debs2024, and run directories with figures of one's choice."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comparisons.debs2024.declaration import Presentation, read_presentation
from comparisons.debs2024.results import Comparison, read_results
from comparisons.finished import read_finished
from hpcsched.runs.files import JOBS, ROUNDS, SCENARIO, SUMMARY, TIMING, write_json
from hpcsched.runs.manifest import Status, finish_manifest, start_manifest
from hpcsched.studies.cell import Cell
from hpcsched.studies.execution import IndexWriter
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import Experiment, read_experiment
from tests.workload.readers.swf_files import record, write

BASE = """\
name: base
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""

EXPERIMENT = """\
name: small
scenario: base.yaml
matrix:
  - predictor: [actual, requested-time]
  - names: [AF, P2SF]
    objective: [{name: af}, {name: psf}]
  - names: [REG, SJF, EASY]
    dispatcher:
      - {name: list, order: fcfs, option: backfill}
      - {name: list, order: sjf}
      - {name: easy}
exclude:
  - {objective: P2SF, dispatcher: [REG, SJF, EASY]}
  - {dispatcher: EASY, predictor: requested-time}
"""

SHOWN = """\
baseline: REG
halves: {actual: known, requested-time: requested}
objectives:
  AF: {title: AF, metric: mean_response_time}
  P2SF: {title: P²SF, metric: p2sf}
runs:
  - {label: REG, colour: grey, dispatcher: REG}
  - {label: SJF+, colour: green, dispatcher: SJF, objective: AF}
  - {label: EASY, colour: light grey, dispatcher: EASY}
table:
  - {objective: AF, run: SJF+, paper: {actual: 80, requested-time: {note: not legible}}}
  - {objective: AF, run: EASY, paper: {actual: {percent: 97, note: or so}}}
  - {objective: P2SF, run: REG}
  - {objective: P2SF, run: SJF+}
figures:
  - {name: figure-1, title: Of AF, objective: AF, half: actual, runs: [SJF+, REG, EASY]}
  - {name: figure-2, title: Of P, objective: P2SF, half: requested-time, runs: [REG, SJF+]}
"""

JOBS_OF_LOG = 12
AXES = ("predictor", "objective", "dispatcher")


def write_experiment(folder: Path, text: str = EXPERIMENT) -> Experiment:
    """Write an experiment with its scenario and its log, and read it."""
    write(
        folder,
        [record(n, 10 * n, 40 + 17 * n % 60, 1 + n % 4, 200) for n in range(1, JOBS_OF_LOG + 1)],
    )
    (folder / "base.yaml").write_text(BASE)
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def write_shown(folder: Path, text: str = SHOWN) -> Path:
    """Write what is shown of the experiment, and return the file."""
    path = folder / "shown.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def shown_in(folder: Path, text: str = SHOWN) -> Presentation:
    """Write what is shown of the experiment, and read it."""
    return read_presentation(write_shown(folder, text))


def write_folder(experiment: Experiment, out: Path) -> None:
    """Write the index of an experiment's folder, as it is before anything was run."""
    out.mkdir(parents=True, exist_ok=True)
    IndexWriter(experiment, ExperimentFolder(out), experiment.cells).write()


def place_of(experiment: Experiment, out: Path, name: str) -> tuple[Cell, Path]:
    """Return the cell with a name, and where its run is."""
    cell = next(cell for cell in experiment.cells if cell.name == name)
    return cell, ExperimentFolder(out).place(cell)


def write_run(
    cell: Cell,
    folder: Path,
    metrics: Mapping[str, float | None],
    *,
    status: Status = "complete",
    decision_time: float = 0.001,
    offline: Mapping[str, Any] | None = None,
) -> None:
    """Write a cell's run directory with these figures; its tables are empty files.

    It took 90 s, with one round, in which a list plan had to do, for 12 jobs.
    """
    folder.mkdir(parents=True)
    manifest = start_manifest(
        folder, scenario=cell.name, seed=0, trace_files=(), plugins={"hpcsched": "0"}
    )
    (folder / SCENARIO).write_text(cell.text, encoding="utf-8")
    for name in (JOBS, ROUNDS):
        (folder / name).touch()
    summary: dict[str, Any] = {
        "jobs": {"completed": JOBS_OF_LOG},
        "metrics": dict(metrics),
        "rounds": {"count": 1, "fallbacks": 1},
    }
    if offline is not None:
        summary["offline"] = dict(offline)
    write_json(folder / SUMMARY, summary)
    write_json(folder / TIMING, {"rounds": {"decision_time_mean": decision_time}})
    finish_manifest(folder, manifest, status, ())
    _set_times(folder / "manifest.json")


def _set_times(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content |= {"started": "2000-01-01T00:00:00+00:00", "finished": "2000-01-01T00:01:30+00:00"}
    write_json(path, content)


def written_out(folder: Path) -> Path:
    """Return the folder of an experiment of which all runs but one are there, made by hand.

    Of the run of SJF with known run times a bound is known; that as requested is missing.
    """
    experiment = write_experiment(folder)
    out = folder / "out"
    write_folder(experiment, out)
    for name, af, p2sf, offline in (
        ("actual_AF_REG", 200.0, 1000.0, None),
        ("actual_AF_SJF", 150.0, 1300.0, {"value": 150.0, "lower_bound": 120.0}),
        ("actual_AF_EASY", 196.6, 1010.0, None),
        ("requested-time_AF_REG", 250.0, 1100.0, None),
    ):
        cell, place = place_of(experiment, out, name)
        metrics = {"mean_response_time": af, "p2sf": p2sf}
        write_run(cell, place, metrics, decision_time=0.0123, offline=offline)
    return out


def written_comparison(folder: Path) -> Comparison:
    """Return the comparison of `written_out`."""
    finished = read_finished(written_out(folder), AXES)
    assert finished.missing == ["requested-time_AF_SJF"]
    shown = shown_in(folder)
    return Comparison(shown, read_results(shown, finished))
