"""The page of the public interface names what is public, and nobody else's code needs more."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

import pytest

import hpcsched

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
MAGIC = re.compile(r"\A%%writefile \w+\.py\n|\A%%(?s:.*)|^\w+ = !.*$", re.MULTILINE)
"""The first line of a cell that writes a module; a whole cell that is not Python; a command."""

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
MODULE = re.compile(r"`(hpcsched\.[a-z_.]+)`")


def public_modules() -> set[str]:
    """Return the modules that the page lists."""
    return set(MODULE.findall(PAGE.read_text(encoding="utf-8").partition("## Modules")[2]))


def users() -> Iterator[tuple[str, str]]:
    """Yield what uses the package as others would: bundled plugins, pages and notebooks."""
    for file in sorted((ROOT / "plugins").rglob("*.py")):
        # They have the version of hpcsched, and need just that one.
        if "hpcsched-slurm" in file.parts or file.stem in ("gym", "policy_order"):
            continue
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    words = {"name": "a-b", "words": "a", "Class": "A", "module": "a", "metric": "a_b"}
    for file in sorted((ROOT / "hpcsched" / "plugins" / "templates").glob("*.txt")):
        if file.stem not in ("readme", "pyproject"):
            text = file.read_text(encoding="utf-8")
            yield f"template {file.stem}", Template(text).substitute(words)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for k, block in enumerate(PYTHON.findall(page.read_text(encoding="utf-8"))):
            yield f"{page.name}, block {k + 1}", block
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        yield notebook.name, "\n".join(MAGIC.sub("", text) for text in code)


def imported(code: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import from the package."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            module = node.module or ""
            if module.partition(".")[0] == "hpcsched":
                yield from ((module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name[:9] == "hpcsched.")


def test_the_page_lists_every_name() -> None:
    """The lists and `hpcsched.__all__` are the same set."""
    text = PAGE.read_text(encoding="utf-8").partition("## Names")[2].partition("## Modules")[0]
    # Names stand before the first colon of an item, which may go on in the next line.
    items = re.findall(r"^- (.*?)(?=:\s)", text, re.MULTILINE | re.DOTALL)
    listed = set(re.findall(r"`(\w+)`", " ".join(items)))
    assert listed == set(hpcsched.__all__)


CODE = dict(users())


@pytest.mark.parametrize("where", CODE)
def test_others_use_nothing_else(where: str) -> None:
    """Plugins, pages and notebooks import public names and modules only."""
    allowed = public_modules()
    for module, name in imported(CODE[where]):
        if module == "hpcsched":
            assert name in hpcsched.__all__ or f"hpcsched.{name}" in allowed
        else:
            parents = {module.rsplit(".", depth)[0] for depth in range(module.count("."))}
            assert not parents.isdisjoint(allowed), f"{module} is not public"
