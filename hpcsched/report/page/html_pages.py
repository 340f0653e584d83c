"""Rendering of self-contained pages: one HTML file that needs no network.

Vega draws the figures in the browser, from the same descriptions as those of files; `vl-convert`
brings it along, and it is written into the page.
"""

from functools import cache
from typing import Any

import vl_convert
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hpcsched.version import __version__

_LAYOUT = "hpcsched.report.page"


def render(template: str, package: str = _LAYOUT, **content: Any) -> str:
    """Return a page as HTML.

    Parameters
    ----------
    content
        Content of the page: its `title`, its `drawings` by name, and whatever the template names.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_LAYOUT)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(version=__version__, vega=_vega(), **content)


@cache
def _vega() -> Markup:
    """Return the scripts of Vega, which take about a second to bundle."""
    # They are the libraries' own texts, which hold no end of a script.
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
