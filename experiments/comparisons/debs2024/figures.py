"""The figures of a comparison: bars in percent of the baseline, the paper's values beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from comparisons.command import Drawing, Picture
from comparisons.debs2024.declaration import Figure
from comparisons.debs2024.results import Comparison
from hpcsched.problems.whole_files import cannot_write, make_folder, replacing
from hpcsched.report.figures.figure_style import INK, PALETTE, STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.7
_OVERHANG = 0.08
"""By how much the line of a bound is wider than its bar, on each side."""


class Bar(NamedTuple):
    """A bar: what it is called, its colour, and percentages of the baseline, None if not known."""

    label: str
    colour: str
    value: float | None
    bound: float | None
    paper: int | None


def bars(comparison: Comparison, figure: Figure) -> list[Bar]:
    """Return the bars of a figure, from left to right."""
    shown, half, objective = comparison.shown, figure.half, figure.objective
    found = []
    for label in figure.runs:
        printed = shown.printed(objective, label, half)
        found.append(
            Bar(
                label,
                PALETTE[shown.run_named(label).colour],
                comparison.share(half, label, objective),
                comparison.bound(half, label, objective),
                None if printed is None else printed.percent,
            )
        )
    return found


def draw_figures(comparison: Comparison, drawing: Drawing) -> list[Picture]:
    """Draw the figures that show at least one run beside the baseline.

    With `drawing.whole`, only those of which no run is missing. Raises InputError where one cannot
    be written.
    """
    drawn: list[Picture] = []
    shown = comparison.shown
    for figure in shown.figures:
        all_bars = bars(comparison, figure)
        there = [bar for bar in all_bars if bar.value is not None]
        if all(bar.label == shown.baseline for bar in there):
            continue
        if drawing.whole and there != all_bars:
            continue
        make_folder(drawing.folder)
        what = f"{shown.objectives[figure.objective].title}, % of {shown.baseline}"
        files = [drawing.folder / f"{figure.name}.{kind}" for kind in drawing.formats]
        for path, dots in zip(files, drawing.formats.values(), strict=True):
            _save(all_bars, (figure.title, what), path, dots)
        name = figure.name.replace("-", " ").capitalize()
        drawn.append(Picture(f"{name}: {figure.title}", files))
    return drawn


def _save(shown: Sequence[Bar], titles: tuple[str, str], path: Path, dots: int) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    kind = path.suffix.removeprefix(".")
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(1.4 + 0.55 * len(shown), 3.4), layout="constrained")
        axes = canvas.add_subplot()
        _plot(shown, axes)
        axes.set_title(titles[0], fontsize=9)
        axes.set_ylabel(titles[1])
        if axes.get_legend_handles_labels()[0]:
            canvas.legend(loc="outside lower right", ncols=2, frameon=False, fontsize=7)
        with replacing(path, force=True) as unfinished:
            try:
                canvas.savefig(unfinished, format=kind, dpi=dots, metadata=UNDATED[kind])
            except OSError as error:
                raise cannot_write(path, error) from error


def _plot(shown: Sequence[Bar], axes: "Axes") -> None:
    half = _WIDTH / 2 + _OVERHANG
    named = set()
    for x, bar in enumerate(shown):
        if bar.value is None:
            axes.annotate(
                "not run", (x, 0), xytext=(0, 3), textcoords="offset points", rotation=90,
                ha="center", va="bottom", fontsize=7,
            )  # fmt: skip
        else:
            axes.bar(x, bar.value, _WIDTH, color=bar.colour, edgecolor=INK, linewidth=0.5, zorder=2)
            # Above the paper's marker as well, so that they do not overlap.
            axes.annotate(
                f"{bar.value:.1f}", (x, max(bar.value, bar.paper or 0)), xytext=(0, 5),
                textcoords="offset points", ha="center", va="bottom", fontsize=7, zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip
        if bar.bound is not None:
            axes.plot(
                [x - half, x + half], [bar.bound, bar.bound], color=INK, linewidth=1.6, zorder=3,
                label=None if "bound" in named else "lower bound",
            )  # fmt: skip
            named.add("bound")
        if bar.paper is not None:
            axes.plot(
                x, bar.paper, marker="D", markersize=5, linestyle="none", zorder=4,
                markerfacecolor="white", markeredgecolor=INK,
                label=None if "paper" in named else "paper",
            )  # fmt: skip
            named.add("paper")
    axes.axhline(100, color=INK, linewidth=0.8, linestyle="--", zorder=1)
    axes.set_xticks(
        range(len(shown)), [bar.label for bar in shown], rotation=35, ha="right", fontsize=8
    )
    axes.set_xlim(-0.6, len(shown) - 0.4)
    axes.set_ylim(0, 1.15 * max(100, *(max(bar.value or 0, bar.paper or 0) for bar in shown)))
    axes.grid(True, axis="y")
