"""How figures for papers look: colours, fonts, and what keeps equal figures equal bytes."""

from typing import Any

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
"""The palette of Okabe and Ito, which people with any colour vision can tell apart, and two greys.

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
"""Metadata by format, without which equal figures would not be equal bytes."""
