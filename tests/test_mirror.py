"""The tests mirror the source: each package has a folder of tests of the same name."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from hpcsched.cli import app

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "hpcsched"
PLUGINS = TESTS.parent / "plugins"

ACROSS = {
    "docs",
    "experiments",
    "fuzz",
    "golden",
    "properties",
    "real_slurm",
    "reference",
    "reference_outputs",
    "release",
    "traces",
}
"""Folders of tests across packages; docs/develop/testing.md says of each what it holds."""


def folders(root: Path) -> set[str]:
    """Return the packages below a folder, by relative path."""
    return {str(path.parent.relative_to(root)) for path in root.rglob("__init__.py")} - {"."}


def test_each_package_has_tests() -> None:
    """A folder of tests for each package, with at least one test."""
    untested = {name for name in folders(PACKAGE) if not any((TESTS / name).rglob("test_*.py"))}
    assert untested == set()


def test_each_folder_of_tests_has_a_package() -> None:
    """Other folders are about more than one package, and listed as such."""
    assert folders(TESTS) - folders(PACKAGE) == ACROSS
    page = (TESTS.parent / "docs" / "develop" / "testing.md").read_text(encoding="utf-8")
    for name in ACROSS:
        assert f"`tests/{name}`" in page, name


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words that call each command."""

    def within(group: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from within(command, (*words, name))
            else:
                yield (*words, name)

    yield from within(typer.main.get_command(app), ())


def words_said(path: Path) -> tuple[set[str], set[str]]:
    """Return the first words of lists and calls in a test module, and all of its words."""
    first, words = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
        parts = node.elts if isinstance(node, ast.List) else []
        parts = node.args if isinstance(node, ast.Call) else parts
        if parts and isinstance(parts[0], ast.Constant) and isinstance(parts[0].value, str):
            first.add(parts[0].value)
    return first, words


def commands_without_test() -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that no test runs, wherever it stands.

    A command does little by itself: it is tested where that stands which it calls.
    """
    ours = [*TESTS.rglob("test_*.py"), *PLUGINS.glob("*/tests/**/test_*.py")]
    said = [words_said(path) for path in sorted(ours)]
    for group, *below in commands():
        if not any(group in first and words.issuperset(below) for first, words in said):
            yield (group, *below)


def test_each_command_has_a_test() -> None:
    """Some test runs it."""
    assert list(commands_without_test()) == []
