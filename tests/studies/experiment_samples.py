"""A tiny experiment: a log of a few jobs, a scenario, and a matrix of four cells."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import hpcsched
from hpcsched.errors import HpcschedError
from hpcsched.studies import execution as running
from hpcsched.studies.executors.executor import LOG, RUN, Ended, Task, new_attempt
from hpcsched.studies.study_files import Experiment, read_experiment

SCENARIO = """\
name: base
seed: 7
system: {groups: [{name: node, count: 2, resources: {core: 4}}]}
trace: {source: swf, path: log.swf}
dispatcher: reject
"""

EXPERIMENT = """\
name: tiny
scenario: base.yaml
matrix:
  - dispatcher: [reject, {name: list, order: sjf}]
    names: [none, sjf]
  - trace.jobs: [5, 9]
"""

JOBS = "".join(
    f"{n} {n * 10} -1 {30 + n * 17 % 90} {1 + n % 4} -1 -1 {1 + n % 4} 200 -1 1 1 1 1 1 1 -1 -1\n"
    for n in range(1, 13)
)


def write_sample(folder: Path, experiment: str = EXPERIMENT, scenario: str = SCENARIO) -> Path:
    """Write log, scenario and experiment into a folder; return the experiment's file."""
    (folder / "log.swf").write_text(JOBS)
    (folder / "base.yaml").write_text(scenario)
    path = folder / "tiny.yaml"
    path.write_text(experiment)
    return path


def read_sample(folder: Path, experiment: str = EXPERIMENT) -> Experiment:
    """Write the sample and read it."""
    return read_experiment(write_sample(folder, experiment))


def summaries(experiment: Experiment, out: Path) -> list[bytes]:
    """Return the summaries of all cells in order."""
    return [
        (out / "runs" / cell.address / "summary.json").read_bytes() for cell in experiment.cells
    ]


def expected_summaries(experiment: Experiment, folder: Path) -> list[bytes]:
    """Return the summaries of all cells, run one by one in this process."""
    found = []
    for cell in experiment.cells:
        result = hpcsched.run(cell.scenario, folder / cell.name)
        found.append((result.directory.path / "summary.json").read_bytes())
    return found


class HereAndNow:
    """An executor that runs tasks in this process, one by one, after `before` was told of each."""

    def __init__(self, before: Callable[[Task], None] = lambda _: None) -> None:
        self._before = before
        self.names: list[str] = []
        self.closed = False

    def run(
        self, tasks: Sequence[Task], limit: int | None, started: Callable[[Task], None]
    ) -> Iterator[Ended]:
        """Run the tasks."""
        try:
            for task in tasks:
                started(task)
                self.names.append(task.name)
                self._before(task)
                attempt = new_attempt(task.folder, task.name)
                (attempt / "scenario.yaml").write_text(task.scenario)
                (attempt / LOG).write_text("said something\n")
                try:
                    hpcsched.run(attempt / "scenario.yaml", attempt / RUN)
                except HpcschedError as error:
                    yield Ended(task, attempt, 0.1, str(error))
                else:
                    yield Ended(task, attempt, 0.1, "")
        finally:
            self.closed = True


def run_cells_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let experiments run their cells in this process, whatever executor they declare.

    A process of its own for each cell takes longer than the cell.
    """
    monkeypatch.setattr(running, "build_executor", lambda *_: HereAndNow())
