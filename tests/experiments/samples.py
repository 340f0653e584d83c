"""A small comparison on a small log, and run directories with figures of one's own choice."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.cell import Cell
from experiments.debs2024.cells import cells
from experiments.debs2024.declaration import Experiment, read_experiment
from experiments.debs2024.results import Comparison, read_results
from hpcsched.results.files import JOBS, ROUNDS, SCENARIO, SUMMARY, TIMING, write_json
from hpcsched.results.manifest import Status, finish_manifest, start_manifest
from hpcsched.scenario import resolved_yaml
from tests.workload.swf_files import record, write

SCENARIO_FILE = """\
name: base
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""

DECLARATION = """\
name: small
source: nobody
scenario: base.yaml
baseline: REG
halves:
  actual: {predictor: actual, title: known}
  requested-time: {predictor: requested-time, title: requested}
objectives:
  AF: {title: AF, metric: mean_response_time, objective: {name: af}}
  P2SF: {title: P²SF, metric: p2sf, objective: {name: psf}}
runs:
  - {label: REG, colour: grey, dispatcher: {name: list, order: fcfs, option: backfill}}
  - {label: SJF+, colour: green, objective: AF, dispatcher: {name: list, order: sjf}}
  - {label: EASY, colour: light grey, dispatcher: {name: easy}, halves: [actual]}
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


def write_declaration(folder: Path, text: str = DECLARATION) -> Path:
    """Write a comparison with its scenario and its log, and return its file."""
    write(
        folder,
        [record(n, 10 * n, 40 + 17 * n % 60, 1 + n % 4, 200) for n in range(1, JOBS_OF_LOG + 1)],
    )
    (folder / "base.yaml").write_text(SCENARIO_FILE)
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def experiment_in(folder: Path, text: str = DECLARATION) -> Experiment:
    """Write a comparison and return what it declares."""
    return read_experiment(write_declaration(folder, text))


def cell_named(experiment: Experiment, out: Path, name: str) -> Cell:
    """Return the cell with a name such as actual/REG."""
    return next(cell for cell in cells(experiment, out) if cell.name == name)


def write_run(
    cell: Cell,
    metrics: Mapping[str, float | None],
    *,
    status: Status = "complete",
    decision_time: float = 0.001,
    offline: Mapping[str, Any] | None = None,
) -> None:
    """Write a cell's run directory with these figures; its tables are empty files."""
    cell.folder.mkdir(parents=True)
    manifest = start_manifest(
        cell.folder, scenario=cell.label, seed=0, trace_files=(), plugins={"hpcsched": "0"}
    )
    (cell.folder / SCENARIO).write_text(resolved_yaml(cell.load()), encoding="utf-8")
    for name in (JOBS, ROUNDS):
        (cell.folder / name).touch()
    summary = {
        "jobs": {},
        "metrics": dict(metrics),
        "rounds": {"count": 1},
    }
    if offline is not None:
        summary["offline"] = dict(offline)
    write_json(cell.folder / SUMMARY, summary)
    write_json(cell.folder / TIMING, {"rounds": {"decision_time_mean": decision_time}})
    began = manifest.model_copy(update={"started": "2000-01-01T00:00:00+00:00"})
    finish_manifest(cell.folder, began, status, ())


def written_comparison(folder: Path) -> Comparison:
    """Return a comparison of which all runs but one are there, with figures made by hand.

    Of the run `actual/SJF+` an off-line bound is known; `requested-time/SJF+` is missing.
    """
    experiment = experiment_in(folder)
    out = folder / "out"
    for name, af, p2sf, offline in (
        ("actual/REG", 200.0, 1000.0, None),
        ("actual/SJF+", 150.0, 1300.0, {"value": 150.0, "lower_bound": 120.0}),
        ("actual/EASY", 196.6, 1010.0, None),
        ("requested-time/REG", 250.0, 1100.0, None),
    ):
        cell = cell_named(experiment, out, name)
        write_run(
            cell, {"mean_response_time": af, "p2sf": p2sf}, decision_time=0.0123, offline=offline
        )
    results, missing = read_results(cells(experiment, out))
    assert missing == ["requested-time/SJF+"]
    return Comparison(experiment, results)
