"""The documentation as a site: all pages are in its navigation; it is built without a warning."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.pages import DOCS, NOTEBOOKS, SITE

PATIENCE = 600
LOADED = re.compile(r'<(?:script|img|link)[^>]*?(?:src|href)="([^"]+)"')


@pytest.fixture
def navigation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What the site's settings make its navigation with."""
    monkeypatch.syspath_prepend(DOCS)
    return import_module("navigation")


def test_every_page_is_in_the_navigation(navigation: ModuleType) -> None:
    """Each once, in the section of the index that links to it first."""
    found = navigation.sections(navigation.read(DOCS))
    pages = [page for section in found.values() for page in section]
    assert sorted(pages) == sorted(
        str(p.relative_to(DOCS).with_suffix(""))
        for p in (*SITE, *NOTEBOOKS)
        if p.parent != DOCS or p.stem != "README"
    )
    assert list(found)[:3] == ["Tutorials", "Gallery", "How-to guides"]
    assert {"Reference", "Explanation"} <= set(found)


def test_navigation_of_an_index(navigation: ModuleType) -> None:
    """Sections without a page of their own are left out; links to headings count as links."""
    index = (
        "# Top\n[x](x.md)\n## One\n[a](a.md#b) [b](b.md)\n## Two\n[a](a.md)\n## Three\n[c](c.md)\n"
    )
    assert navigation.sections(index) == {"One": ["a", "b"], "Three": ["c"]}
    assert navigation.with_navigation("## One\n[a](a.md)\n").endswith(
        "```{toctree}\n:hidden:\n:caption: One\n\na\n```"
    )


def test_links_to_files_outside_the_site(navigation: ModuleType) -> None:
    """They name the file; those between pages stay."""
    page = "see [the\nREADME](../README.md#x), [here](here.md)"
    assert navigation.without_outside_links(page) == (
        "see the\nREADME (`README.md` in the project), [here](here.md)"
    )
    page = "[licence](../../LICENSE) and [plugins](../plugins.md)"
    assert navigation.without_outside_links(page, depth=1) == (
        "licence (`LICENSE` in the project) and [plugins](../plugins.md)"
    )


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every page is there, notebooks with their figures; none loads anything from elsewhere."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    for page in (*SITE, *NOTEBOOKS):
        html = (tmp_path / "site" / page.relative_to(DOCS).with_suffix(".html")).read_text(
            encoding="utf-8"
        )
        loaded = LOADED.findall(html)
        assert loaded
        assert not [link for link in loaded if link.startswith(("http:", "https:", "//"))]
        assert "<!-- begin" not in re.sub(r"<!--.*?-->", "", html)
    assert "url=README.html" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    for notebook in NOTEBOOKS:
        page = tmp_path / "site" / notebook.relative_to(DOCS).with_suffix(".html")
        assert 'src="../_images/' in page.read_text(encoding="utf-8")
