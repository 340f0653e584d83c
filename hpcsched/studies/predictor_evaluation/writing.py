"""Files of an evaluation: figures, distributions, and their plots."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from hpcsched.report.figures.figure_files import write_figure
from hpcsched.report.tables.report_table import csv_text
from hpcsched.studies.predictor_evaluation.figures import (
    ACCURACIES,
    ERRORS,
    PredictorFigures,
    Shares,
)
from hpcsched.studies.predictor_evaluation.plots import accuracy_chart, error_chart
from hpcsched.studies.predictor_evaluation.rendering import values_table
from hpcsched.whole_files import check_target, make_folder, write_text

FIGURES = "predictors.csv"
ACCURACY = "accuracy"
ERROR = "absolute-error"
FORMATS = ("svg", "png")
"""Formats of the plots."""


def check_folder(folder: Path, *, force: bool) -> None:
    """Check that an evaluation may be written into a folder, before it takes its time.

    Raises
    ------
    InputError
        If it may not.
    """
    plots = (f"{name}.{kind}" for name in (ACCURACY, ERROR) for kind in FORMATS)
    for name in (FIGURES, f"{ACCURACY}.csv", f"{ERROR}.csv", *plots):
        check_target(folder / name, force=force)


def write_evaluation(
    figures: Sequence[PredictorFigures], shares: Shares, folder: Path, *, force: bool
) -> list[Path]:
    """Write all files into a folder, which is created, and return their paths.

    Each plot has a CSV file with its numbers beside it. Without jobs nothing is plotted.

    Parameters
    ----------
    figures
        Figures of each predictor.
    shares
        Their distributions.
    folder
        The folder.
    force
        True: replace existing files.

    Raises
    ------
    InputError
        If a file exists or cannot be written.
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
