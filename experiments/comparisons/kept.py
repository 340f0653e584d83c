"""Outcomes of an experiment that takes days: a table beside it, to which later runs are added."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from comparisons.finished import Finished
from hpcsched.whole_files import file_error, write_text


class Outcome(NamedTuple):
    """Labels of a cell, by axis, and figures of its run, by metric."""

    labels: Mapping[str, str]
    figures: Mapping[str, float]


def join(path: Path, finished: Finished, metrics: Sequence[str]) -> Sequence[Outcome]:
    """Return the kept outcomes and those of the runs that are there, in the order of the cells.

    Figures have seven significant digits. Raises InputError where a run does not come to what is
    kept of its cell, or a cell is not of the experiment.
    """
    axes = finished.axes
    kept = _read(path, list(axes), metrics)
    for one in finished.runs:
        labels = tuple(one.labels[axis] for axis in axes)
        found = tuple(f"{one.run.summary['metrics'][name]:.7g}" for name in metrics)
        if (expected := kept.setdefault(labels, found)) != found:
            message = f"{', '.join(expected)} of {' '.join(labels)}; its run has {', '.join(found)}"
            raise file_error("other-outcome", path, message)
    for labels in kept:
        if not all(name in names for name, names in zip(labels, axes.values(), strict=True)):
            raise file_error("other-outcome", path, f"{' '.join(labels)} is no cell")
    order = sorted(kept, key=lambda row: [axes[a].index(x) for a, x in zip(axes, row, strict=True)])
    return [
        Outcome(
            dict(zip(axes, labels, strict=True)),
            dict(zip(metrics, map(float, kept[labels]), strict=True)),
        )
        for labels in order
    ]


def keep(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write outcomes as CSV, for `join`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*outcomes[0].labels, *outcomes[0].figures])
    for labels, figures in outcomes:
        writer.writerow([*labels.values(), *(f"{value:.7g}" for value in figures.values())])
    write_text(path, text.getvalue())


def _read(
    path: Path, axes: Sequence[str], metrics: Sequence[str]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if header != [*axes, *metrics]:
        message = f"columns {', '.join(header)}; expected {', '.join((*axes, *metrics))}"
        raise file_error("other-outcome", path, message)
    return {tuple(row[: len(axes)]): tuple(row[len(axes) :]) for row in rows}
