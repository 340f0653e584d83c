"""The tests mirror the source: each package has a folder of tests of the same name."""

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import typer

from hpcsched.cli import app

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "hpcsched"

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

THROUGH_OTHERS = {
    "cli/conversion.py": "the command that converts: tests/cli/test_trace_convert.py",
    "cli/shared_options.py": "options of commands: tests of the commands",
    "cli/solver_warning.py": "runs whose solver fails: test_unsolved_told, tests of live sessions",
    "dispatching/cp/cp_dispatchers.py": "scenarios of the papers: tests/experiments",
    "dispatching/cp/formulations/scheduling.py": "optima of all starts: test_exact_formulations",
    "dispatching/cp/formulations/unit_positions.py": "optima of all starts, as scheduling",
    "dispatching/offline/exact_ratio.py": "ratios are compared with all schedules: test_bounds",
    "dispatching/offline/neighbourhood_*.py": "plans are compared with all schedules: test_bounds",
    "dispatching/offline/offline_too.py": "runs of scenarios: test_run",
    "simulation/decision_requests.py": "what dispatchers are shown and answer: tests of the engine",
    "simulation/replay_eligibility.py": "held-back jobs: test_dependencies, test_limits",
    "simulation/replay_events.py": "what observers are told: tests of the engine, tests/properties",
    "simulation/replay_flight.py": "decisions that take time: test_dispatch_latency",
    "simulation/replay_followers.py": "what observers are told: tests of the engine",
    "simulation/replay_orders.py": "orders in Python: tests of multifactor, tests/properties",
    "simulation/replay_predictions.py": "predictors that are asked: tests/properties, test_engine",
    "version.py": "versions of packages and wheels agree: tests/release",
}
"""Patterns of modules that are tested through others, with the tests that do."""


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


def imported(tests: Iterable[Path]) -> set[str]:
    """Return the names that test modules import, by full name."""
    names = set()
    for path in tests:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def without_test(packages: Iterable[str]) -> Iterator[str]:
    """Yield the modules below packages that no test of their own package is about, by path.

    The package `.` is the top alone.
    """
    for package in packages:
        pattern = "*.py" if package == "." else "**/*.py"
        for folder in sorted({path.parent for path in (PACKAGE / package).glob(pattern)}):
            tests = TESTS / folder.relative_to(PACKAGE)
            # Below the folder of all tests everything is imported by some test.
            known = imported(tests.glob(pattern))
            for path in sorted(folder.glob("*.py")):
                name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                of_its_name = (tests / f"test_{path.name}").exists()
                if path.stem != "__init__" and name not in known and not of_its_name:
                    yield path.relative_to(PACKAGE).as_posix()


def commands() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the module of each command, by path, and the words that call it."""

    def within(group: Any, words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from within(command, (*words, name))
            else:
                module = command.callback.__module__
                yield f"{module.removeprefix('hpcsched.').replace('.', '/')}.py", (*words, name)

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
    said = [words_said(path) for path in sorted(TESTS.rglob("test_*.py"))]
    for _, (group, *below) in commands():
        if not any(group in first and words.issuperset(below) for first, words in said):
            yield (group, *below)


def test_each_command_has_a_test() -> None:
    """Some test runs it."""
    assert list(commands_without_test()) == []


def test_each_module_has_a_test() -> None:
    """A test of the same package imports the module or has its name; each exception is needed."""
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    found = set(without_test({".", *packages})) - {module for module, _ in commands()}
    excepted = {
        pattern: {name for name in found if fnmatch(name, pattern)} for pattern in THROUGH_OTHERS
    }
    assert found - set().union(*excepted.values()) == set()
    assert [pattern for pattern, names in excepted.items() if not names] == []
