"""Mutants that survive for a reason: the file `explained.toml`, read and applied.

An entry names a file and a function, and mostly the line as it was and as it is in the mutant.
Without `now` it holds for every change to the line, without `was` for every change to the function.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation.mutants import Mutant

EXPLAINED = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True)
class Entry:
    """Why some mutants of one function survive."""

    file: str
    function: str
    why: str
    was: str | None = None
    now: str | None = None

    def holds_for(self, mutant: Mutant) -> bool:
        """Tell whether this explains that a mutant survives."""
        return (
            mutant.file == self.file
            and mutant.function == self.function
            and self.was in (None, mutant.was)
            and self.now in (None, mutant.now)
        )


def read(path: Path = EXPLAINED) -> list[Entry]:
    """Read all entries; an unknown or missing key, or a file that is not there, is an error."""
    entries = [Entry(**entry) for entry in tomllib.loads(path.read_text())["survivor"]]
    root = EXPLAINED.parents[2]
    gone = sorted({entry.file for entry in entries if not (root / entry.file).exists()})
    if gone:
        raise ValueError(f"{path}: expected files of the project, found {', '.join(gone)}")
    return entries


def unused(entries: Iterable[Entry], asked: list[Mutant], survived: list[Mutant]) -> list[Entry]:
    """Return entries on files that were asked about in full and that explain no survivor."""
    files = {mutant.file for mutant in asked}
    return [
        entry
        for entry in entries
        if entry.file in files and not any(entry.holds_for(mutant) for mutant in survived)
    ]
