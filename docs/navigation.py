"""The navigation of the site: the sections of the index, and the pages that they link to."""

import re
from pathlib import Path

INDEX = "README"
"""The page that all begins with."""

SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
PAGE_LINK = re.compile(r"\]\(([\w/-]+)\.(?:md|ipynb)(?:#[^)]*)?\)")


def sections(index: str) -> dict[str, list[str]]:
    """Return the pages of each section of the index, each page where it is linked to first."""
    seen = {INDEX}
    found: dict[str, list[str]] = {}
    for title, text in SECTION.findall(index):
        pages = [page for page in dict.fromkeys(PAGE_LINK.findall(text)) if page not in seen]
        seen.update(pages)
        if pages:
            found[title] = pages
    return found


def with_navigation(index: str) -> str:
    """Return the index with its sections as tables of contents, shown at the side."""
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        for title, pages in sections(index).items()
    ]
    return "\n\n".join([index, *trees])


def without_outside_links(page: str, depth: int = 0) -> str:
    """Replace links to files outside the site by the names of these files.

    Parameters
    ----------
    page
        Text of the page.
    depth
        Number of folders between the page and the root of the site.
    """
    outside = re.compile(r"\[([^\]]*)\]\(" + r"\.\./" * (depth + 1) + r"([^)#]*)[^)]*\)")
    return outside.sub(r"\1 (`\2` in the project)", page)


def read(folder: Path) -> str:
    """Return the text of the index."""
    return (folder / f"{INDEX}.md").read_text(encoding="utf-8")
