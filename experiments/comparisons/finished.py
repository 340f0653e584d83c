"""An experiment that was run: its runs, found by the labels of their cells."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.studies.experiment_folder import read_index
from hpcsched.whole_files import file_error


class LabelledRun(NamedTuple):
    """A complete run with the labels of its cell, by axis."""

    labels: Mapping[str, str]
    run: RunDirectory


@dataclass(frozen=True, slots=True)
class Finished:
    """The labels of an experiment's axes, its complete runs, and the names of its other cells."""

    axes: Mapping[str, Sequence[str]]
    runs: Sequence[LabelledRun]
    missing: Sequence[str]

    def having(self, **labels: str) -> Sequence[LabelledRun]:
        """Return the runs that have all of these labels, in the order of the cells."""
        return [one for one in self.runs if labels.items() <= one.labels.items()]


def read_finished(folder: Path, axes: Collection[str]) -> Finished:
    """Return what is there of an experiment that has just these axes.

    A cell counts by its run, whatever the index says of it. Raises InputError where the folder is
    not that of an experiment with these axes.
    """
    index = read_index(folder)
    if set(index.axes) != set(axes):
        message = f"its axes are {', '.join(index.axes)}; expected {', '.join(axes)}"
        raise file_error("other-experiment", folder, message)
    runs, missing = [], []
    for cell in index.cells:
        run = _complete(folder / cell.run)
        if run is None:
            missing.append(cell.name)
        else:
            runs.append(LabelledRun(cell.labels, run))
    return Finished(index.axes, runs, missing)


def seconds_of(run: RunDirectory) -> float:
    """Return how long a complete run took, in real seconds."""
    began = datetime.fromisoformat(run.manifest.started)
    ended = datetime.fromisoformat(run.manifest.finished or run.manifest.started)
    return (ended - began).total_seconds()


def _complete(path: Path) -> RunDirectory | None:
    try:
        run = RunDirectory.open(path)
    except InputError:
        return None
    return None if run.partial else run
