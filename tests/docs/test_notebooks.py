"""The notebooks can be run from their first cell to the last, and are kept without outputs."""

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.pages import DOCS, ROOT, anchors

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
PATIENCE = 300
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


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_every_cell_can_be_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel of its own, in order, in a fresh copy of the folder; figures are drawn."""
    from nbclient import NotebookClient  # noqa: PLC0415 (takes its time)

    for name in ("HOME", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    folder = tmp_path / "docs" / "notebooks"
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    notebook = read(path)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=PATIENCE, resources=resources).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert any("image/png" in out.get("data", {}) for out in outputs)
    assert not any(out.output_type == "error" for out in outputs)
    assert [file.name for file in folder.glob("*.pdf")] == ["waits.pdf"]
