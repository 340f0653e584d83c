"""A what-if study: replays of the variants, outcomes that are kept, and their ranking."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic

from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.runs.folder_lock import locked_folder
from hpcsched.runs.replaying import Workload, read_for, read_workload, replay
from hpcsched.studies.cell import Cell
from hpcsched.studies.execution import Outcome
from hpcsched.studies.job_differences import (
    COMPARED,
    Difference,
    ReplayOutcome,
    difference,
    outcome_table,
    paired_jobs,
    read_outcome,
    write_outcome,
)
from hpcsched.studies.whatif import WhatIf

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
        """Create and lock the folder."""
        return locked_folder(self.path, _VARIANTS)


def replay_cells(
    cells: Sequence[Cell], folder: WhatIfFolder, *, limit: int | None = None
) -> Iterator[Outcome]:
    """Replay cells in a locked folder, and yield each outcome as soon as it is known.

    If the caller is interrupted, no further cells are begun.

    Parameters
    ----------
    limit
        Largest number of replays at a time; that of the processors by default.
    """
    wanted = []
    for cell in cells:
        if folder.outcome(cell) is None:
            wanted.append(cell)
        else:
            yield Outcome(cell, "kept")
    threads = ThreadPoolExecutor(limit or os.cpu_count() or 1)
    try:
        while wanted:
            # Cells that read the same jobs share them; they are let go with the last of these.
            key = read_for(wanted[0].scenario)
            group = [cell for cell in wanted if read_for(cell.scenario) == key]
            wanted = [cell for cell in wanted if cell not in group]
            try:
                workload = read_workload(group[0].scenario)
            except HpcschedError as error:
                yield from (Outcome(cell, "failed", 0.0, str(error)) for cell in group)
                continue
            replays = [threads.submit(_replayed, cell, workload, folder) for cell in group]
            for future in as_completed(replays):
                yield future.result()
    finally:
        threads.shutdown(wait=True, cancel_futures=True)


def _replayed(cell: Cell, workload: Workload, folder: WhatIfFolder) -> Outcome:
    begun = monotonic()
    try:
        done = replay(cell.scenario, workload)
        table = outcome_table(cell.scenario, done, workload, cell.address)
        write_outcome(folder.place(cell), table)
    except HpcschedError as error:
        return Outcome(cell, "failed", monotonic() - begun, str(error))
    return Outcome(cell, "done", monotonic() - begun)


@dataclass(frozen=True)
class Variant:
    """A variant with its outcome."""

    cell: Cell
    outcome: ReplayOutcome
    differences: dict[str, Difference]

    @property
    def name(self) -> str:
        """Name of the variant."""
        return self.cell.name

    @cached_property
    def changes(self) -> str:
        """Differences from the base, in words."""
        return ", ".join(f"{path}: {label}" for path, label in self.cell.labels.items())


@dataclass(frozen=True)
class WhatIfStudy:
    """A study with its outcomes.

    Attributes
    ----------
    base
        Outcome of the base scenario.
    variants
        Variants by ascending objective; those in which no job ran come last.
    failed
        Names of the variants without an outcome.
    """

    whatif: WhatIf
    base: ReplayOutcome
    variants: Sequence[Variant]
    failed: Sequence[str]

    @property
    def objective(self) -> str:
        """Name of the objective."""
        return self.whatif.base.scenario.objective.plugin_name


def read_study(whatif: WhatIf, folder: WhatIfFolder) -> WhatIfStudy:
    """Return the study with the outcomes in its folder."""
    base = folder.outcome(whatif.base)
    if base is None:
        message = f"the base scenario {whatif.scenario!r} has no outcome; nothing can be compared"
        raise InputError(Finding("no-base", message))
    variants, failed = [], []
    for cell in whatif.variants:
        outcome = folder.outcome(cell)
        if outcome is None:
            failed.append(cell.name)
            continue
        pairs = {quantity: paired_jobs(base, outcome, quantity) for quantity in COMPARED}
        found = {quantity: difference(one.base, one.variant) for quantity, one in pairs.items()}
        variants.append(Variant(cell, outcome, found))
    variants.sort(key=_rank)
    return WhatIfStudy(whatif, base, variants, failed)


def _rank(variant: Variant) -> tuple[bool, float]:
    value = variant.outcome.figures.objective
    return value is None, value or 0.0
