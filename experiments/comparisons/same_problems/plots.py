"""The figures: curves of ratios, and points for single problems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from comparisons.command import Drawing, Picture
from comparisons.pictures import Plot, draw_picture
from comparisons.same_problems.papers import Figure, Pair, Paper
from comparisons.same_problems.questions import Answers
from comparisons.same_problems.table import MEASURES, Pairings, ratios_of
from hpcsched.problems.comparison import SAME_TIME
from hpcsched.problems.pairing import Floats, Mask, Pairing
from hpcsched.report.figures.figure_style import LINES, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER, SAME, WORSE = PALETTE["green"], PALETTE["blue"], PALETTE["vermilion"]
"""The colours of the thesis, of dots: for the pair's first dispatcher, neither, and the other."""


def draw(
    paper: Paper,
    figure: Figure,
    answers: Mapping[str, Answers],
    pairings: Pairings,
    drawing: Drawing,
) -> Picture | None:
    """Draw a figure; None where it is about no problem."""
    chosen = {key: one for key, one in pairings.items() if key[0] in figure.pairs}
    number = figure.name.replace("-", " ").capitalize()
    if figure.kind in MEASURES:
        curves = {
            _named(paper, key): ratios_of(one, figure.kind)
            for key, one in chosen.items()
            if len(ratios_of(one, figure.kind))
        }
        measure = f"ratio of {MEASURES[figure.kind]}"
        plots: Sequence[Plot] = [partial(_curves, curves, measure)] if curves else []
        return draw_picture(figure.name, f"{number}: {measure}", plots, drawing)
    points: Callable[[Pair, str, Pairing], Iterator[Plot]]
    shows, points = {
        "both": ("ratios of times and fails, problem by problem", partial(_both, paper)),
        "scatter": ("values of both objectives", partial(_scatter, paper)),
        "groups": ("groups by queue and pressure", partial(_by_group, paper, answers)),
    }[figure.kind]
    plots = [plot for (pair, letter), one in chosen.items() for plot in points(pair, letter, one)]
    return draw_picture(figure.name, f"{number}: {shows}", plots, drawing)


def _named(paper: Paper, key: tuple[Pair, str]) -> str:
    pair, letter = key
    return f"{paper.name_of(pair)}, {letter}"


def _curves(curves: Mapping[str, Floats], measure: str, axes: "Axes") -> None:
    for k, (name, ratios) in enumerate(curves.items()):
        # A step for each value that occurs, however many problems share it.
        values, found = np.unique(ratios, return_counts=True)
        percent = 100 * np.cumsum(found) / len(ratios)
        axes.plot(
            np.r_[values[:1], values], np.r_[0.0, percent], label=name, linewidth=1.4,
            linestyle=LINES[k % len(LINES)], drawstyle="steps-post",
        )  # fmt: skip
    together = np.concatenate(list(curves.values()))
    if together.max() > 10 * max(together.min(), 1e-9):
        axes.set_xscale("symlog" if together.min() <= 0 else "log")
    axes.axvline(1, color=PALETTE["grey"], linewidth=0.8, linestyle="--")
    axes.set_xlabel(measure)
    axes.set_ylabel("problems, %")
    axes.legend(fontsize=6, frameon=False)
    axes.grid(True)


def _both(paper: Paper, pair: Pair, letter: str, pairing: Pairing) -> Iterator[Plot]:
    (time_a, time_b), (fails_a, fails_b) = pairing.both("decision_time"), pairing.both("fails")
    with np.errstate(invalid="ignore"):
        known = (fails_a > 0) & np.isfinite(fails_b) & (time_a > 0)
    if not known.any():
        return
    x, y = time_b[known] / time_a[known], fails_b[known] / fails_a[known]
    inside = float(((x <= 1) & (y <= 1)).mean())

    def plot(axes: "Axes") -> None:
        axes.scatter(x, y, s=8, color=SAME, alpha=0.6)
        axes.axvline(1, color=PALETTE["grey"], linewidth=0.8, linestyle="--")
        axes.axhline(1, color=PALETTE["grey"], linewidth=0.8, linestyle="--")
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("ratio of decision time")
        axes.set_ylabel("ratio of fails")
        axes.set_title(f"{_named(paper, (pair, letter))}: both 1 or less, {inside:.0%}", fontsize=8)

    yield plot


def _scatter(paper: Paper, pair: Pair, letter: str, pairing: Pairing) -> Iterator[Plot]:
    comparable, signs = pairing.comparable, pairing.objective_order
    if not comparable.any():
        return
    over, of = pairing.both("objective")

    def plot(axes: "Axes") -> None:
        for sign, colour, word in ((0, SAME, "same"), (-1, BETTER, "better"), (1, WORSE, "worse")):
            these = comparable & (signs == sign)
            label = f"{word}: {int(these.sum())}"
            axes.scatter(of[these], over[these], s=8, color=colour, label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"objective, {paper.names[pair.of]}-{letter}")
        axes.set_ylabel(f"objective, {paper.names[pair.over]}-{letter}")
        axes.legend(fontsize=6, frameon=False)

    yield plot


def _by_group(
    paper: Paper, answers: Mapping[str, Answers], pair: Pair, letter: str, pairing: Pairing
) -> Iterator[Plot]:
    asked = answers[letter]
    of_group = list(_in_groups(pairing))
    if not any(these.any() for these in of_group):
        return

    def plot(axes: "Axes") -> None:
        for k, (these, colour) in enumerate(zip(of_group, (BETTER, SAME, WORSE), strict=True), 1):
            shown = these & np.isfinite(asked.pressure)
            axes.scatter(
                asked.pressure[shown], asked.queued[shown], s=8, color=colour,
                label=f"group {k}: {int(these.sum())}",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlabel("requested / available resources")
        axes.set_ylabel("queued jobs")
        axes.set_title(_named(paper, (pair, letter)), fontsize=8)
        axes.legend(fontsize=6, frameon=False)

    yield plot


def _in_groups(pairing: Pairing) -> Iterator[Mask]:
    """Yield which compared problems are in groups 1, 2 and 3 of the thesis's table 6.3."""
    objective, time = pairing.objective_order, pairing.time_order(SAME_TIME)
    first = (objective <= 0) & (time <= 0)
    second = objective * time < 0
    for group in (first, second, ~first & ~second):
        yield group & pairing.comparable
