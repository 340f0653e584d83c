"""Results of mutants in a file, a line each: what an interrupted run has found is not lost."""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.mutation.mutants import Key, Mutant


class Results:
    """What came out of each mutant, by key; the last line holds."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[Key, str]:
        """Return what is known."""
        if not self._path.exists():
            return {}
        known = {}
        for line in self._path.read_text().splitlines():
            file, function, was, now, nth, result = json.loads(line)
            known[file, function, was, now, nth] = result
        return known

    def add(self, mutant: Mutant, result: str) -> None:
        """Add a line. Any process may do so, as the file is not kept open."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps([*mutant.key, result]) + "\n")

    def forget(self, files: Iterable[str]) -> None:
        """Drop what is known of the mutants of these files."""
        dropped = set(files)
        kept = [[*key, result] for key, result in self.read().items() if key[0] not in dropped]
        if self._path.exists():
            self._path.write_text("".join(json.dumps(line) + "\n" for line in kept))
