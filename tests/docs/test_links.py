"""Links between pages lead somewhere."""

import re

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, SITE, anchors, without_blocks

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    """Every link to a file, and to a heading in it, has its target."""
    for link in LINK.findall(without_blocks(page)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_has_all_pages():
    """The index links to every other page."""
    links = LINK.findall(without_blocks(DOCS / "README.md"))
    assert {str(page.relative_to(DOCS)) for page in SITE} - {"README.md"} <= set(links)
