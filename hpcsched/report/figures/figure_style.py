"""Style of figures: colours of dispatchers and jobs, lines, fonts."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
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
GRID = "#dddddd"
DARK_PAGE = "#1a1c1e"
"""Background of pages on dark screens."""
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
_PALE = 0.7
"""Share of the background in the colour of dots behind lines."""
_TINTS = (0.0, 0.45, 0.7, 0.25, 0.85, 0.6)
"""Shares of white in the areas of configurations of one colour."""


class Look(NamedTuple):
    """Colour and style of a configuration in figures.

    Attributes
    ----------
    label
        Label of the configuration; empty: its name.
    own
        Whether no other configuration has the colour.
    """

    colour: str
    style: int
    label: str = ""
    own: bool = False

    @property
    def dash(self) -> Sequence[int]:
        """Lengths of the strokes and gaps of lines, in points."""
        return DASHES[self.style]

    @property
    def fill(self) -> str:
        """Colour of areas, lighter for each further configuration of the colour."""
        return self.colour if self.own else lighter(self.colour, _TINTS[self.style])


def lighter(colour: str, white: float) -> str:
    """Return a colour mixed with white.

    Parameters
    ----------
    white
        Share of white, from 0 to 1.

    Examples
    --------
    >>> lighter("#000080", 0.5)
    '#8080C0'
    """
    return _mixed(colour, "#FFFFFF", white)


def pale(colour: str) -> str:
    """Return the colour of dots behind lines of a colour, so that the lines stand out."""
    return lighter(colour, _PALE)


def _mixed(colour: str, other: str, share: float) -> str:
    pairs = ((int(colour[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(one + (two - one) * share):02X}" for one, two in pairs)


def on_dark_screens() -> dict[str, str]:
    """Return the colours of figures on dark pages, by their colours in files, where they differ.

    Examples
    --------
    >>> on_dark_screens()["white"] == DARK_PAGE
    True
    """
    dots = {pale(one): _mixed(one, DARK_PAGE, _PALE) for one in PALETTE.values()}
    lines = {INK: "#dddddd", PALETTE["black"]: "#ffffff", PALETTE["grey"]: "#999999"}
    return {"white": DARK_PAGE, GRID: "#44484c", **dots, **lines}


def ink_on(colour: str) -> str:
    """Return the colour of text on an area: white on dark ones.

    Examples
    --------
    >>> ink_on("#000080"), ink_on("#FDE725")
    ('#ffffff', '#222222')
    """
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    # Weights of the luminance of the three colours, as the eye sees them (ITU-R BT.709).
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 110 else "#ffffff"


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
            "gridColor": GRID,
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


def colours_of(dispatchers: Iterable[str]) -> dict[str, str]:
    """Return a colour for each dispatcher of a figure.

    Parameters
    ----------
    dispatchers
        Names. Well-known ones have the same colour in every figure; others get one by the hash of
        their name, or the next free one, as long as there is one.
    """
    seen = list(dict.fromkeys(dispatchers))
    colours = {name: _DISPATCHERS[name] for name in seen if name in _DISPATCHERS}
    for name in seen:
        if name not in colours:
            # Not `hash`, which differs from process to process.
            first = hashlib.sha256(name.encode()).digest()[0] % len(_OTHERS)
            turns = (*_OTHERS[first:], *_OTHERS[:first])
            # Well-known names have taken theirs first, whatever the order of the runs.
            taken = set(colours.values())
            colours[name] = next((one for one in turns if one not in taken), turns[0])
    return {name: PALETTE[colour] for name, colour in colours.items()}


def looks(dispatchers: Mapping[str, str]) -> dict[str, Look]:
    """Return the look of each configuration.

    Parameters
    ----------
    dispatchers
        Dispatcher by configuration. The first of each dispatcher has its colour; further ones have
        colours of their own if there are enough, else they differ by line and tint.
    """
    colours = colours_of(dispatchers.values())
    further = len(dispatchers) - len(colours)
    free = [PALETTE[name] for name in _OTHERS if PALETTE[name] not in colours.values()]
    own = 0
    drawn: dict[str, Look] = {}
    used: dict[str, int] = {}
    for name, dispatcher in dispatchers.items():
        colour = colours[dispatcher]
        number = used.setdefault(colour, 0)
        used[colour] += 1
        if number and further <= len(free):
            # Dashed all the same: two lines may lie on each other.
            drawn[name] = Look(free[own], number % len(DASHES), own=True)
            own += 1
        else:
            drawn[name] = Look(colour, number % len(DASHES))
    return drawn


def configuration_looks(compared: ComparedStudy) -> dict[str, Look]:
    """Return the look of each configuration of a comparison."""
    dispatchers: dict[str, str] = {}
    for one in compared.study.runs:
        dispatchers.setdefault(one.configuration, one.dispatcher)
    labels = compared.study.configuration_labels
    return {name: own._replace(label=labels[name]) for name, own in looks(dispatchers).items()}


def job_colour(job_id: int) -> str:
    """Return the colour of a job, different from the colours of the neighbouring job numbers.

    Examples
    --------
    >>> job_colour(1) != job_colour(2)
    True
    """
    return JOB_COLOURS[job_id % len(JOB_COLOURS)]


JOB_COLOURS: Sequence[str] = tuple(
    PALETTE[name] for name in ("sky blue", "orange", "green", "yellow", "purple", "light grey")
)
"""The colours of jobs, all light enough for a number on them."""
