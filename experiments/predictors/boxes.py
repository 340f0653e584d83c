"""Box plots of a trace's runs, on a logarithmic scale.

Boxes reach from the first to the third quartile, with a line at the median and a triangle at the
mean; the whiskers reach from the least value to the largest (Galleguillos and others, MOD 2017,
figures 3 and 5). What is 0 is not on a logarithmic scale, and is not drawn.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.predictors.declaration import Comparison, label_of
from experiments.predictors.distributions import Outcome
from hpcsched.instances.whole_files import cannot_write, make_folder, replacing
from hpcsched.report.boxes import Box, draw_box
from hpcsched.report.figure_style import PALETTE, STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES: Mapping[str, tuple[str, Callable[[Outcome], Box]]] = {
    "slowdown": ("slowdown of jobs that wait in some run", lambda outcome: outcome.slowdowns),
    "queue": ("jobs waiting, by the second", lambda outcome: outcome.queue),
}
"""What is drawn of outcomes, by the name of its file: the title of its axis, and which boxes."""


def draw_boxes(
    comparison: Comparison,
    trace: str,
    outcomes: Mapping[str, Outcome],
    folder: Path,
    formats: Mapping[str, int],
) -> list[Path]:
    """Write the box plots of one trace into a folder, and return the files.

    There is none of what no job waits in. `formats` are pdf, svg or png, with the dots per inch of
    each. Raises InputError where one cannot be written.
    """
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    make_folder(folder)
    drawn = []
    for name, (title, of) in PICTURES.items():
        boxes = {label: of(outcome) for label, outcome in outcomes.items()}
        if not any(box.largest > 0 for box in boxes.values()):
            continue
        for kind, dots in formats.items():
            path = folder / f"{trace}-{name}.{kind}"
            with mpl.rc_context(STYLE), replacing(path, force=True) as unfinished:
                figure = Figure(figsize=(7.4, 3.2), layout="constrained")
                axes = figure.add_subplot()
                _plot(comparison, boxes, axes)
                axes.set_ylabel(title)
                axes.set_title(trace, fontsize=9)
                figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=7)
                try:
                    figure.savefig(unfinished, format=kind, dpi=dots, metadata=UNDATED[kind])
                except OSError as error:
                    raise cannot_write(path, error) from error
            drawn.append(path)
    return drawn


def _plot(comparison: Comparison, boxes: Mapping[str, Box], axes: "Axes") -> None:
    predictors = comparison.predictors
    step = 0.8 / len(predictors)
    named: set[str] = set()
    for k, policy in enumerate(comparison.dispatchers):
        for m, prediction in enumerate(predictors):
            box = boxes.get(label_of(policy, prediction))
            if box is None:
                continue
            drawn = draw_box(
                axes,
                box,
                k + step * (m - (len(predictors) - 1) / 2),
                0.8 * step,
                colour=PALETTE[prediction.colour],
            )
            if prediction.label not in named:
                drawn.set_label(prediction.label)
                named.add(prediction.label)
    axes.set_yscale("log")
    axes.set_xticks(
        range(len(comparison.dispatchers)), [one.label for one in comparison.dispatchers]
    )
    axes.set_xlim(-0.55, len(comparison.dispatchers) - 0.45)
    axes.grid(True, axis="y")
