"""Files have names that one finds."""

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "hpcsched"

MOST_OF_A_NAME = 2
"""Largest number of files with the same name."""


def test_names_of_files() -> None:
    """A file is found by its name."""
    counts = Counter(path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert {name for name, count in counts.items() if count > MOST_OF_A_NAME} == set()
