"""The tests mirror the source: each package has a folder of tests of the same name."""

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

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
    "release",
    "traces",
}
"""Folders of tests across packages; docs/develop/testing.md says of each what it holds."""

MIRRORED = [
    ".",
    "audit",
    "dispatching",
    "experiment",
    "explain",
    "first_look",
    "forecast",
    "gym",
    "metrics",
    "monitoring",
    "plugins",
    "prediction",
    "predictor_evaluation",
    "problems",
    "report",
    "results",
    "runs",
    "scenario",
    "slurm",
    "system",
    "testing",
    "tuning",
    "whatif",
    "workload",
]
"""Packages whose modules are each imported by a test of their own package; `.` is the top alone."""

THROUGH_OTHERS = {
    "dispatching/core/*_kernels.py": "rules call them, and are compared with tests/reference",
    "dispatching/core/code_call_types.py": "numba's inner workings: tests of state_function",
    "dispatching/core/inner_code.py": "numba's inner workings: tests of compiled",
    "dispatching/core/machine_code.py": "numba's inner workings: tests of compiled",
    "dispatching/cp/cp_dispatchers.py": "scenarios of the papers: tests/experiments",
    "dispatching/cp/models.py": "solver calls about fewer jobs: tests of cp_improver",
    "dispatching/cp/formulations/scheduling.py": "optima of all starts: test_exact_formulations",
    "dispatching/cp/formulations/unit_positions.py": "optima of all starts, as scheduling",
    "dispatching/cp/postpone/*_kernels.py": "optima of all starts: test_postpone",
    "dispatching/cp/postpone/preparing.py": "optima of all starts: test_postpone",
    "dispatching/offline/exact_ratio.py": "ratios are compared with all schedules: test_bounds",
    "dispatching/offline/neighbourhood_*.py": "plans are compared with all schedules: test_bounds",
    "dispatching/offline/offline_too.py": "runs of scenarios: test_run",
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
    """Yield the modules below packages that no test of their own package is about, by path."""
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


def test_each_module_has_a_test() -> None:
    """A test of the same package imports the module or has its name; each exception is needed."""
    found = set(without_test(MIRRORED))
    excepted = {
        pattern: {name for name in found if fnmatch(name, pattern)} for pattern in THROUGH_OTHERS
    }
    assert found - set().union(*excepted.values()) == set()
    assert [pattern for pattern, names in excepted.items() if not names] == []
