"""Style of figures for papers: colours, fonts, and settings for reproducible bytes."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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
STYLE: Any = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "hpcsched",
    "pdf.fonttype": 42,
}
"""Settings for `matplotlib.rc_context`."""

UNDATED: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""Metadata by format that make equal figures equal bytes."""

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
LINES: Sequence[Any] = ("-", "--", ":", "-.", (0, (8, 3)), (0, (8, 3, 1, 3)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")


class Look(NamedTuple):
    """Colour and style of a contender in figures.

    Attributes
    ----------
    colour
        Colour as hexadecimal RGB.
    style
        Index in `LINES` and `HATCHES`, which distinguishes contenders of one colour.
    """

    colour: str
    style: int

    @property
    def line(self) -> Any:
        """Line style, as Matplotlib takes it."""
        return LINES[self.style]

    @property
    def hatch(self) -> str:
        """Hatch of areas, as Matplotlib takes it."""
        return HATCHES[self.style]


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
    """Return the look of each contender.

    Parameters
    ----------
    dispatchers
        Dispatcher by contender. Contenders of one colour differ by line and hatch, in this order.
    """
    colours = colours_of(dispatchers.values())
    drawn: dict[str, Look] = {}
    used: dict[str, int] = {}
    for name, dispatcher in dispatchers.items():
        colour = colours[dispatcher]
        number = used.setdefault(colour, 0)
        used[colour] += 1
        drawn[name] = Look(colour, number % len(LINES))
    return drawn


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
