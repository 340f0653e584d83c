"""Settings of Sphinx, which makes the site from the pages in this folder: `make docs`.

Sphinx with MyST reads the pages as they are, so that they stay readable where the project is kept
and stay what the tests run. It checks every link, can be built without a network, and both are
maintained; Material for MkDocs, the usual alternative, is no longer developed. The theme, furo,
loads nothing from elsewhere.
"""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import navigation  # noqa: E402
import reference  # noqa: E402

import hpcsched  # noqa: E402

project = "hpcsched"
version = release = hpcsched.__version__
copyright = "the authors of hpcsched"  # noqa: A001 (the name is Sphinx's)
extensions = ["myst_nb"]  # pages, and notebooks, which it runs
root_doc = navigation.INDEX
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
html_theme = "furo"
html_title = "hpcsched"
html_show_sphinx = False
myst_heading_anchors = 4
smartquotes = False  # an option begins with two hyphens, not with a dash
# What a command prints may be cut short, and is no whole JSON then.
suppress_warnings = ["misc.highlighting_failure"]


def _prepare(_app: object, name: str, source: list[str]) -> None:
    """Fit a page into the site as it is read."""
    text = reference.make_page(source[0])
    text = navigation.without_outside_links(text, depth=name.count("/"))
    source[0] = navigation.with_navigation(text) if name == root_doc else text


def _write_front(app: Any, error: Exception | None) -> None:
    """Lead from the page that web servers look for to the index."""
    if error is None:
        refresh = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (Path(app.outdir) / "index.html").write_text(refresh + "\n", encoding="utf-8")


def setup(app: Any) -> None:
    """Have each page prepared, and a front page written."""
    app.connect("source-read", _prepare)
    app.connect("build-finished", _write_front)
