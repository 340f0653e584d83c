"""Figures of a comparison of two dispatchers on the same problems, as vector files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hpcsched.problems.pairing import Floats, Pairing
from hpcsched.problems.whole_files import cannot_write, check_target, make_folder, replacing
from hpcsched.report.figures.figure_style import PALETTE, STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("pdf", "svg")
MANY = 2000
"""Number of points above which they are drawn as an image within the vector figure."""

BETTER, SAME, WORSE = PALETTE["blue"], PALETTE["grey"], PALETTE["vermilion"]


def draw(
    pairing: Pairing, folder: Path, formats: Sequence[str] = FORMATS, *, force: bool = False
) -> tuple[list[Path], list[str]]:
    """Write the figures that have values into a folder.

    Parameters
    ----------
    pairing
        The two tables.
    folder
        The folder.
    formats
        File formats, such as `pdf` and `svg`.
    force
        True: replace existing files.

    Returns
    -------
    files, skipped
        The files, and the figures without values.

    Raises
    ------
    InputError
        If a file exists or cannot be written.
    """
    make_folder(folder)
    drawn: list[Path] = []
    missing: list[str] = []
    figures = list(_figures(pairing))
    for figure in figures:
        for kind in formats if figure.problems else ():
            check_target(folder / f"{figure.name}.{kind}", force=force)
    for figure in figures:
        if not figure.problems:
            missing.append(f"{figure.name}: there is no problem with values of both")
            continue
        for kind in formats:
            path = folder / f"{figure.name}.{kind}"
            _save(figure, path, kind, force=force)
            drawn.append(path)
    return drawn, missing


class _Drawing(NamedTuple):
    """A figure: name, number of problems, drawing function, and size in inches."""

    name: str
    problems: int
    plot: Callable[["Axes"], None]
    size: tuple[float, float]


def _figures(pairing: Pairing) -> Iterator[_Drawing]:
    for column, name, label in (
        ("variables", "decision-variables-ratio", "decision variables"),
        ("decision_time", "decision-time-ratio", "decision time"),
        ("fails", "fails-ratio", "fails"),
        ("objective", "objective-ratio", "objective"),
    ):
        ratios = pairing.ratios(column)
        yield _Drawing(name, len(ratios), _ecdf(pairing, ratios, label), (4.5, 3.2))
    points = int(pairing.comparable.sum())
    yield _Drawing("objective-scatter", points, _scatter(pairing), (4.2, 4.2))


def _ecdf(pairing: Pairing, ratios: Floats, label: str) -> Callable[["Axes"], None]:
    a, b = pairing.a.about.name, pairing.b.about.name

    def plot(axes: "Axes") -> None:
        # A step for each value that occurs, however many problems share it.
        values, counts = np.unique(ratios, return_counts=True)
        percent = 100 * np.cumsum(counts) / len(ratios)
        x, y = np.concatenate((values[:1], values)), np.concatenate(([0], percent))
        axes.axvline(1, color=SAME, linewidth=0.8, linestyle="--", zorder=1)
        axes.plot(
            x, y, color=BETTER, linewidth=1.6, drawstyle="steps-post",
            rasterized=len(x) > 10 * MANY, zorder=2,
        )  # fmt: skip
        # Over a decade a linear axis would press the small ratios together; a ratio of 0 has no
        # logarithm.
        if len(values) and values[-1] > 10 * values[0]:
            if values[0] > 0:
                axes.set_xscale("log")
            else:
                axes.set_xscale("symlog", linthresh=0.01)
        axes.set_ylim(0, 101)
        axes.set_xlabel(f"{label}: {b} / {a}")
        axes.set_ylabel("dispatching problems, %")
        axes.set_title(f"{len(ratios):,} problems; left of the line, {b} needs less", fontsize=8)
        axes.grid(True)

    return plot


def _scatter(pairing: Pairing) -> Callable[["Axes"], None]:
    a, b = pairing.a.about.name, pairing.b.about.name

    def plot(axes: "Axes") -> None:
        comparable = pairing.comparable
        x, y = (values[comparable] for values in pairing.both("objective"))
        signs = pairing.objective_order[comparable]
        logarithmic = bool((x > 0).all() and (y > 0).all()) and (
            max(x.max(), y.max()) > 10 * min(x.min(), y.min())
        )
        if logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        axes.plot([low, high], [low, high], color=SAME, linewidth=0.8, linestyle="--", zorder=1)
        for sign, colour, marker, what in (
            (0, SAME, "o", "same"),
            (-1, BETTER, "v", "better"),
            (1, WORSE, "^", "worse"),
        ):
            chosen = signs == sign
            count = int(chosen.sum())
            axes.scatter(
                x[chosen], y[chosen], s=14, marker=marker, c=colour, alpha=0.6, linewidths=0,
                label=f"{b} {what}: {100 * count / len(signs):.1f} %",
                rasterized=len(signs) > MANY, zorder=2,
            )  # fmt: skip
        axes.set_xlabel(f"objective of {a}")
        axes.set_ylabel(f"objective of {b}")
        axes.set_aspect("equal", adjustable="box")
        axes.legend(frameon=False, fontsize=8)
        axes.set_title(f"{len(signs):,} problems", fontsize=8)
        axes.grid(True)

    return plot


def _save(drawing: _Drawing, path: Path, kind: str, *, force: bool) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(STYLE):
        # Without pyplot there is no window and no display: the file's format says what draws it.
        figure = Figure(figsize=drawing.size, layout="constrained")
        drawing.plot(figure.add_subplot())
        with replacing(path, force=force) as unfinished:
            try:
                figure.savefig(unfinished, format=kind, dpi=300, metadata=UNDATED[kind])
            except OSError as error:
                raise cannot_write(path, error) from error
