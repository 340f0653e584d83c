"""Replays of variants in threads; outcomes that are there already are kept."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic

from hpcsched.errors import HpcschedError
from hpcsched.runs.folder_lock import locked_folder
from hpcsched.runs.replaying import Workload, read_for, read_workload, replay
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.execution import Outcome
from hpcsched.studies.whatif.outcomes import (
    ReplayOutcome,
    outcome_table,
    read_outcome,
    write_outcome,
)

_VARIANTS = "variants"


class WhatIfFolder:
    """Folder of a what-if study: the outcome of each variant by its address.

    An outcome gets its place by a rename once it is whole, so that a study that was killed goes on
    where it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def place(self, cell: Cell) -> Path:
        """Return the file of a cell's outcome, which may not exist yet."""
        return self.path / _VARIANTS / f"{cell.address}.parquet"

    def outcome(self, cell: Cell) -> ReplayOutcome | None:
        """Return the outcome of a cell, if it is there."""
        return read_outcome(self.place(cell), cell)

    def locked(self) -> AbstractContextManager[None]:
        """Create and lock the folder.

        Raises
        ------
        InputError
            It cannot be written, or another process works on it.
        """
        return locked_folder(self.path, _VARIANTS)


class _Group:
    """Cells that read the same jobs."""

    def __init__(self, key: dict[str, object]) -> None:
        self.key = key
        self.left = 0
        self.lock = Lock()
        self.workload: Workload | None = None


class _SharedWorkloads:
    """The workloads of cells, each read once, and kept for as long as a cell needs it."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._groups: list[_Group] = []
        self._of: dict[str, _Group] = {}
        for cell in cells:
            key = read_for(cell.scenario)
            group = next((one for one in self._groups if one.key == key), None)
            if group is None:
                group = _Group(key)
                self._groups.append(group)
            group.left += 1
            self._of[cell.address] = group

    @contextmanager
    def lent(self, cell: Cell) -> Iterator[Workload]:
        """Lend the workload of a cell, once."""
        group = self._of[cell.address]
        with group.lock:
            if group.workload is None:
                group.workload = read_workload(cell.scenario)
            workload = group.workload
        try:
            yield workload
        finally:
            with group.lock:
                group.left -= 1
                if not group.left:
                    group.workload = None


def replay_cells(
    cells: Sequence[Cell],
    folder: WhatIfFolder,
    *,
    limit: int | None = None,
    started: Callable[[Cell], None] = lambda _: None,
) -> Iterator[Outcome]:
    """Replay cells in a locked folder, and yield each outcome as soon as it is known.

    If the caller is interrupted, no further cells are begun.

    Parameters
    ----------
    cells
        The cells.
    folder
        Locked folder of the study.
    limit
        Largest number of replays at a time; that of the processors by default.
    started
        Called with each cell that begins, maybe from another thread.
    """
    wanted = []
    for cell in cells:
        if folder.outcome(cell) is None:
            wanted.append(cell)
        else:
            yield Outcome(cell, "kept")
    workloads = _SharedWorkloads(wanted)

    def ended(cell: Cell) -> Outcome:
        started(cell)
        begun = monotonic()
        try:
            with workloads.lent(cell) as workload:
                done = replay(cell.scenario, workload)
                table = outcome_table(cell.scenario, done, workload, cell.address)
            write_outcome(folder.place(cell), table)
        except HpcschedError as error:
            return Outcome(cell, "failed", monotonic() - begun, str(error))
        return Outcome(cell, "done", monotonic() - begun)

    threads = ThreadPoolExecutor(limit or os.cpu_count() or 1)
    try:
        for future in as_completed([threads.submit(ended, cell) for cell in wanted]):
            yield future.result()
    finally:
        threads.shutdown(wait=True, cancel_futures=True)
