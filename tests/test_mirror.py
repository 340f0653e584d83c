"""The tests mirror the source: each package has a folder of tests of the same name."""

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
