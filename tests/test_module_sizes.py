"""Modules are of a size that one reads in one go, and have names that one finds."""

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "hpcsched"

LEAST, MOST = 30, 400
"""Number of lines of a module."""

MOST_OF_A_NAME = 2
"""Largest number of files with the same name."""

SMALL = {
    "__main__.py": "python -m hpcsched starts it",
    "cli/measure.py": "a module for each command, imported when it is called",
    "report/tables/study_tables.py": "imports all tables, and no table imports it",
    "version.py": "imported by all, imports nothing",
}
"""Smaller modules beside those that register a plugin, and the reason."""

LARGE = {
    "simulation/event_loop.py": "one class that owns the state of the loop",
}
"""Larger modules, and the reason."""


def lines() -> dict[str, int]:
    """Return the number of lines of each module but `__init__.py`, by path."""
    return {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
        if path.name != "__init__.py"
    }


def registers_a_plugin(name: str) -> bool:
    """Return whether a module registers a plugin: it may be as small as the plugin is."""
    return "\n@builtin(" in (PACKAGE / name).read_text(encoding="utf-8")


def test_small_modules() -> None:
    """A small module belongs to another one, but for those with a reason."""
    small = {name for name, count in lines().items() if count < LEAST}
    assert {name for name in small if not registers_a_plugin(name)} == set(SMALL)


def test_large_modules() -> None:
    """A large module is two, but for those with a reason."""
    assert {name for name, count in lines().items() if count > MOST} == set(LARGE)


def test_names_of_files() -> None:
    """A file is found by its name."""
    counts = Counter(Path(name).name for name in lines())
    assert {name for name, count in counts.items() if count > MOST_OF_A_NAME} == set()
