"""The status of an experiment: its cells by outcome, and the progress of those that run."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpcsched.errors import InputError
from hpcsched.runs.folder_lock import holder_of
from hpcsched.runs.run_status import RunStatus, status_content, status_of
from hpcsched.studies.experiment.executors.attempt import RUN
from hpcsched.studies.experiment.folder import ExperimentFolder
from hpcsched.studies.experiment.index import Index, IndexedCell, read_index


@dataclass(frozen=True)
class ExperimentStatus:
    """The status of an experiment.

    Attributes
    ----------
    folder
        Its folder.
    index
        Its cells, by the index.
    running
        Status of each cell's run that has begun and not ended.
    holder
        The process that works on the experiment; None if none does.
    """

    folder: Path
    index: Index
    running: tuple[RunStatus, ...]
    holder: str | None

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by status; those that run are not counted as waiting."""
        counted = Counter(cell.status for cell in self.index.cells)
        waiting = max(counted["waiting"] - len(self.running), 0)
        return {
            "complete": counted["complete"],
            "failed": counted["failed"],
            "running": len(self.running),
            "waiting": waiting,
        }

    @property
    def failed(self) -> list[IndexedCell]:
        """Cells that failed."""
        return [cell for cell in self.index.cells if cell.status == "failed"]


def experiment_status(path: Path) -> ExperimentStatus:
    """Return the status of the experiment in a folder.

    Raises
    ------
    InputError
        The folder holds no experiment, or its index is damaged.
    """
    folder = ExperimentFolder(path)
    index = read_index(path)
    holder = holder_of(path)
    # What a killed experiment left behind is not running.
    begun = sorted(folder.unfinished.glob(f"*/{RUN}")) if holder else []
    running = []
    for run in begun:
        # A run may end, and be moved to its place, while this is looked at.
        try:
            status = status_of(run)
        except InputError:
            continue
        if status.verdict in ("running", "unknown"):
            running.append(status)
    return ExperimentStatus(path, index, tuple(running), holder)


def experiment_status_text(status: ExperimentStatus) -> str:
    """Return the status as lines: the counts, cells that run, and why others failed."""
    cells = len(status.index.cells)
    counts = ", ".join(f"{count} {what}" for what, count in status.counts.items() if count)
    lines = [f"{status.index.experiment}: {cells} cells: {counts}"]
    if status.holder is not None:
        lines.append(f"  worked on by {status.holder}")
    elif status.counts["waiting"]:
        lines.append("  nothing works on it; started again, it goes on from here")
    for run in status.running:
        state = run.state
        known = state is not None and state.progress is not None
        how_far = f" {state.progress:.0%}" if state is not None and known else ""
        lines.append(f"  running{how_far}: {run.manifest.scenario}")
    lines += [f"  failed: {cell.name}: {cell.message}" for cell in status.failed]
    return "\n".join(lines)


def experiment_status_content(status: ExperimentStatus) -> dict[str, Any]:
    """Return the status for JSON.

    Returns
    -------
    dict
        `experiment`, `folder`, `cells` (a number), `counts` by status, `holder` (null if nothing
        works on it), `running` (as `hpcsched status` gives each run) and `failed` (`name`,
        `message` and `log` of each cell).
    """
    return {
        "experiment": status.index.experiment,
        "folder": str(status.folder),
        "cells": len(status.index.cells),
        "counts": status.counts,
        "holder": status.holder,
        "running": [status_content(run) for run in status.running],
        "failed": [
            {"name": cell.name, "message": cell.message, "log": cell.log} for cell in status.failed
        ],
    }
