"""Tests that have killed mutants: a good first guess for the next mutant of the same function."""

import json
from collections import Counter
from pathlib import Path

from benchmarks.mutation.mutants import Mutant


class Killers:
    """Which tests killed what so far, in a file that all processes add to.

    The order in which tests are asked changes nothing about what comes out, only how soon.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, mutant: Mutant, test: str) -> None:
        """Note that a test killed a mutant."""
        with self._path.open("a") as file:
            file.write(json.dumps([mutant.file, mutant.function, test]) + "\n")

    def first(self, mutant: Mutant, tests: list[str]) -> list[str]:
        """Return tests with those first that killed mutants of this function, then of this file."""
        kills: Counter[str] = Counter()
        in_function: Counter[str] = Counter()
        if self._path.exists():
            for line in self._path.read_text().splitlines():
                file, function, test = json.loads(line)
                kills[test] += file == mutant.file
                in_function[test] += (file, function) == (mutant.file, mutant.function)
        return sorted(tests, key=lambda test: (-in_function[test], -kills[test]))
