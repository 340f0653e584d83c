"""Plots of the accuracies and errors of predictors, and the files of an evaluation."""

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path

import altair as alt

from hpcsched.report.figures.chart_parts import (
    Chart,
    chart_of,
    colours,
    dashes,
    layers,
    rows,
    sized,
)
from hpcsched.report.figures.figure_files import write_figure
from hpcsched.report.figures.figure_style import DASHES, PALETTE, Look
from hpcsched.report.tables.report_table import csv_text
from hpcsched.studies.predictor_evaluation import (
    ACCURACIES,
    BASELINE,
    ERRORS,
    PredictorFigures,
    Shares,
    values_table,
)
from hpcsched.whole_files import check_target, make_folder, write_text

_COLOURS = ("blue", "vermilion", "green", "orange", "purple", "sky blue", "black")
_BASELINE_STYLE = 3
_SIZE = (330, 190)
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def accuracy_chart(shares: Shares) -> Chart:
    """Return the chart of the share of jobs up to each accuracy."""
    data = [
        row
        for title, of_title in shares.accuracy.items()
        for row in rows(
            configuration=title, accuracy=ACCURACIES, percent=[100 * share for share in of_title]
        )
    ]
    looks = _looks(shares.accuracy)
    exact = chart_of(rows(accuracy=[1])).mark_rule(color=PALETTE["light grey"])
    curves = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=1.4)
        .encode(
            x=alt.X(
                "accuracy:Q",
                scale=alt.Scale(domain=[0, ACCURACIES[-1]], nice=False),
                axis=alt.Axis(
                    title="accuracy: run time / predicted run time (right of 1: underestimated)"
                ),
            ),
            y=alt.Y(
                "percent:Q",
                scale=alt.Scale(domain=[0, 101], nice=False),
                axis=alt.Axis(title="jobs at or below, %"),
            ),
            color=colours(looks),
            strokeDash=dashes(looks),
        )
    )
    return sized(layers(exact.encode(x="accuracy:Q"), curves), _SIZE)


def error_chart(shares: Shares) -> Chart:
    """Return the chart of the share of jobs by class of absolute error."""
    names = ["0 s", *(f"≥ {_duration(begin)}" for begin in ERRORS[1:])]
    data = [
        row
        for title, of_title in shares.error.items()
        for row in rows(
            configuration=title, error=names, percent=[100 * share for share in of_title]
        )
    ]
    looks = _looks(shares.error)
    title = "absolute error, up to where the next class begins"
    base = chart_of(data).encode(
        # At equal distances: classes reach from a second to a day, and the first one is zero.
        x=alt.X("error:O", sort=names, axis=alt.Axis(title=title, labelAngle=-45)),
        y=alt.Y("percent:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title="jobs, %")),
        color=colours(looks),
    )
    return sized(
        layers(
            base.mark_line(strokeWidth=1.4).encode(strokeDash=dashes(looks)),
            base.mark_point(filled=True, size=12, opacity=1),
        ),
        _SIZE,
    )


def _looks(titles: Iterable[str]) -> dict[str, Look]:
    """Return the look of each predictor: the baseline in grey, the others in colours."""
    others = cycle((colour, style) for style in range(len(DASHES)) for colour in _COLOURS)
    looks = {}
    for title in titles:
        colour, style = ("grey", _BASELINE_STYLE) if title == BASELINE else next(others)
        looks[title] = Look(PALETTE[colour], style)
    return looks


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}"


FIGURES = "predictors.csv"
ACCURACY = "accuracy"
ERROR = "absolute-error"
FORMATS = ("svg", "png")
"""Formats of the plots."""


def check_folder(folder: Path, *, force: bool) -> None:
    """Check that an evaluation may be written into a folder, before it takes its time."""
    plots = (f"{name}.{kind}" for name in (ACCURACY, ERROR) for kind in FORMATS)
    for name in (FIGURES, f"{ACCURACY}.csv", f"{ERROR}.csv", *plots):
        check_target(folder / name, force=force)


def write_evaluation(
    figures: Sequence[PredictorFigures], shares: Shares, folder: Path, *, force: bool
) -> list[Path]:
    """Write all files into a folder, which is created, and return their paths.

    Each plot has a CSV file with its numbers beside it. Without jobs nothing is plotted.
    """
    texts = {
        FIGURES: values_table(figures).as_csv() + "\n",
        f"{ACCURACY}.csv": _table(["accuracy_up_to"], ([at] for at in ACCURACIES), shares.accuracy),
        f"{ERROR}.csv": _table(["from_seconds", "below_seconds"], _classes(), shares.error),
    }
    charts = {ACCURACY: accuracy_chart, ERROR: error_chart} if shares.accuracy else {}
    make_folder(folder)
    for name, text in texts.items():
        check_target(folder / name, force=force)
        write_text(folder / name, text)
    # Drawn last, since the figures in numbers are there even if a drawing fails.
    plots = [folder / f"{name}.{kind}" for kind in FORMATS for name in charts]
    for path in plots:
        write_figure(charts[path.stem](shares), path, force=force)
    return [*(folder / name for name in texts), *plots]


def _classes() -> Iterable[list[object]]:
    ends: list[object] = [*ERRORS[1:], ""]
    return ([begin, end] for begin, end in zip(ERRORS, ends, strict=True))


def _table(
    labels: Sequence[str], rows: Iterable[Sequence[object]], columns: dict[str, tuple[float, ...]]
) -> str:
    """Return CSV with a column of shares for each predictor; only its header if there are none."""
    lines = zip(rows, *columns.values(), strict=True) if columns else ()
    return csv_text([*labels, *columns], ([*row, *values] for row, *values in lines)) + "\n"
