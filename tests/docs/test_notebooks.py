"""Notebooks are kept without outputs; `make docs` and the test of the site run them."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.pages import NOTEBOOKS, anchors

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def read(path: Path) -> Any:
    """Return a notebook; raises an error if it is none."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_outputs_are_kept(path: Path) -> None:
    """They would differ with every run, and hide that a cell no longer works."""
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert code
    for cell in code:
        assert cell.outputs == []
        assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_links(path: Path) -> None:
    """They lead to pages, and to headings in them."""
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    links = LINK.findall(text)
    assert links
    for link in links:
        page, _, anchor = link.partition("#")
        target = (path.parent / page).resolve()
        assert target.exists()
        assert not anchor or anchor in anchors(target)
