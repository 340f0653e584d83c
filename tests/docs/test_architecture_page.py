"""The page that says where things are names files and folders that are there."""

import re

from tests.docs.pages import DOCS, ROOT

PATH = re.compile(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*(?:/|\.(?:py|cpp|hpp|json)))`")
PACKAGE = ROOT / "hpcsched"
PAGE = DOCS / "develop" / "architecture.md"
ROOTS = (ROOT, PACKAGE, PACKAGE / "dispatching")


def exists(path: str) -> bool:
    """Whether a path is there, from the project, the package, or the dispatchers."""
    return any((root / path).exists() for root in ROOTS)


def test_named_files_are_there() -> None:
    """Each path in code type, of a folder, with a slash at its end, or of a source file."""
    found = PATH.findall(PAGE.read_text(encoding="utf-8"))
    assert found
    assert [path for path in found if not exists(path)] == []


def test_the_architecture_page_names_all_packages() -> None:
    """Each storey is a package, and each package is in a storey."""
    text = PAGE.read_text(encoding="utf-8")
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {name for name in packages if f"`{name}`" not in text} == set()
