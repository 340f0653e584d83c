"""Figures of the distributions of accuracies and absolute errors.

Accuracies are drawn as in figures 4.1 and 4.7 of Galleguillos' thesis (2020), absolute errors as in
figure 4.2, for any predictors.
"""

from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.predictor_evaluation.figures import ACCURACIES, ERRORS, Shares
from hpcsched.predictor_evaluation.predictor_selection import BASELINE
from hpcsched.report.figures.figure_style import PALETTE, STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png")

_COLOURS = ("blue", "vermilion", "green", "orange", "purple", "sky blue", "black")
_LINES = ("-", "--", ":")
_SIZE = (5.6, 3.4)
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def draw_accuracy(shares: Shares, kind: str, path: Path) -> None:
    """Write a figure of the share of jobs up to each accuracy.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def plot(axes: "Axes") -> None:
        axes.axvline(1, color=PALETTE["light grey"], linewidth=0.8, zorder=1)
        for title, look in _looks(shares.accuracy):
            percent = [100 * share for share in shares.accuracy[title]]
            axes.plot(ACCURACIES, percent, drawstyle="steps-post", label=title, zorder=2, **look)
        axes.set_xlim(0, ACCURACIES[-1])
        axes.set_ylim(0, 101)
        axes.set_xlabel("accuracy: run time / predicted run time (right of 1: underestimated)")
        axes.set_ylabel("jobs up to it, %")

    _save(plot, path, kind)


def draw_errors(shares: Shares, kind: str, path: Path) -> None:
    """Write a figure of the share of jobs by class of absolute error.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def plot(axes: "Axes") -> None:
        for title, look in _looks(shares.error):
            percent = [100 * share for share in shares.error[title]]
            # At equal distances: classes reach from a second to a day, and the first one is zero.
            axes.plot(range(len(ERRORS)), percent, marker="o", markersize=3, label=title, **look)
        names = ["0 s", *(f"≥ {_duration(begin)}" for begin in ERRORS[1:])]
        axes.set_xticks(range(len(ERRORS)), names, rotation=45, ha="right")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("absolute error, up to where the next class begins")
        axes.set_ylabel("jobs, %")

    _save(plot, path, kind)


def _looks(titles: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the line style of each predictor: the baseline in grey, the others in colours."""
    colours = cycle((colour, line) for line in _LINES for colour in _COLOURS)
    for title in titles:
        colour, line = ("grey", "-.") if title == BASELINE else next(colours)
        yield title, {"color": PALETTE[colour], "linestyle": line, "linewidth": 1.4}


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}"


def _save(plot: Callable[["Axes"], None], path: Path, kind: str) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(STYLE):
        # Without pyplot there is no window and no display: the file's format says what draws it.
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        plot(axes)
        axes.grid(True)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(path, format=kind, dpi=200, metadata=UNDATED[kind])
