"""The pages that say where things are name files and folders that are there."""

import re

import pytest

from tests.docs.pages import DOCS, ROOT

PATH = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*(?:/|\.py))`")
PACKAGE = ROOT / "hpcsched"
ROOTS = (ROOT, PACKAGE, PACKAGE / "dispatching")


def exists(path: str) -> bool:
    """Whether a path is there, from the project, the package, or the dispatchers."""
    return any((root / path).exists() for root in ROOTS)


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "develop" / "architecture.md"])
def test_named_files_are_there(page) -> None:
    """Each path in code type, with a slash at its end or the ending of Python."""
    found = PATH.findall(page.read_text(encoding="utf-8"))
    assert found
    assert [path for path in found if not exists(path)] == []


def test_the_readme_names_all_packages() -> None:
    """Its table has a row, or a place in a row, for each package of hpcsched."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = "".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {
        name for name in packages if f"`{name}`" not in rows and f"/{name}`" not in rows
    } == set()


def test_the_architecture_page_names_all_packages() -> None:
    """Each storey is a package, and each package is in a storey."""
    text = (DOCS / "develop" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for name in packages if f"`{name}`" not in text} == set()
