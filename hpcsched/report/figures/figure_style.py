"""Style of figures: colours of dispatchers, lines, fonts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from hpcsched.report.compared_study import ComparedStudy

PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#777777",
    "light grey": "#BBBBBB",
}
"""The palette of Okabe and Ito, distinguishable with any colour vision, and two greys.

M. Okabe and K. Ito, Color Universal Design, 2008.
"""

INK = "#222222"
PAPER_WIDTH = 520
"""Width of figures for papers, in points of 1/72 inch; on a page, in pixels."""
FONT_SIZE = 9
"""Size of text in figures for papers, in points."""

_DISPATCHERS = {
    "list": "grey",
    "list sjf": "orange",
    "easy": "blue",
    "conservative": "sky blue",
    "order-search": "green",
    "cp": "vermilion",
    "best-of": "purple",
    "joint-now": "black",
}
_OTHERS = ("vermilion", "green", "purple", "orange", "sky blue", "yellow", "black", "blue")
DASHES: Sequence[Sequence[int]] = ((1, 0), (5, 3), (1, 2), (5, 2, 1, 2), (9, 3), (9, 3, 1, 3))
"""Styles of lines: lengths of strokes and gaps in turn, in points."""


class Look(NamedTuple):
    """Colour and style of a configuration in figures.

    Attributes
    ----------
    style
        Index in `DASHES`.
    label
        Label of the configuration; empty: its name.
    """

    colour: str
    style: int
    label: str = ""


def lighter(colour: str, white: float) -> str:
    """Return a colour mixed with white, a share from 0 to 1.

    Examples
    --------
    >>> lighter("#000080", 0.5)
    '#8080C0'
    """
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02X}" for part in parts)


def chart_config(font_size: int = FONT_SIZE) -> dict[str, Any]:
    """Return the Vega-Lite configuration that all figures share."""
    text: dict[str, Any] = {
        "labelFontSize": font_size - 1,
        "titleFontSize": font_size,
        "labelLimit": 0,
    }
    text |= {"titleLimit": 0, "labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"}
    return {
        "background": "white",
        "font": "Liberation Sans, Arial, Helvetica, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **text,
            "gridColor": "#dddddd",
            "gridWidth": 0.6,
            "domainColor": INK,
            "tickColor": INK,
            "tickSize": 3,
            # Vega would move the outermost labels inwards, beside their ticks.
            "labelFlush": False,
        },
        "legend": {**text, "title": None, "orient": "bottom", "symbolStrokeWidth": 2},
        "title": {"fontSize": font_size, "fontWeight": "normal", "color": INK},
        "rule": {"color": INK},
        "text": {"fontSize": font_size - 2, "color": INK},
    }


def looks(dispatchers: Mapping[str, str]) -> dict[str, Look]:
    """Return the look of each configuration.

    Parameters
    ----------
    dispatchers
        Dispatcher by configuration. The first configuration of a well-known dispatcher has its
        colour; others have the next free one. Colours that repeat differ by the style of lines.
    """
    own: dict[str, str] = {}
    for name, dispatcher in dispatchers.items():
        colour = _DISPATCHERS.get(dispatcher)
        if colour is not None and colour not in own.values():
            own[name] = colour
    free = cycle([colour for colour in _OTHERS if colour not in own.values()] or _OTHERS)
    drawn: dict[str, Look] = {}
    used: Counter[str] = Counter()
    for name in dispatchers:
        colour = own.get(name) or next(free)
        drawn[name] = Look(PALETTE[colour], used[colour] % len(DASHES))
        used[colour] += 1
    return drawn


def configuration_looks(compared: ComparedStudy) -> dict[str, Look]:
    """Return the look of each configuration of a comparison."""
    dispatchers: dict[str, str] = {}
    for one in compared.study.runs:
        dispatchers.setdefault(one.configuration, one.dispatcher)
    labels = compared.study.configuration_labels
    return {name: own._replace(label=labels[name]) for name, own in looks(dispatchers).items()}
