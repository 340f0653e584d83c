"""Selection of cells of an experiment by their labels."""

from collections.abc import Collection, Sequence

from hpcsched.errors import Finding, InputError
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.reading import Experiment


def choose_cells(experiment: Experiment, labels: Collection[str]) -> Sequence[Cell]:
    """Return the cells with the given labels.

    Labels of the same axis are OR-ed, labels of different axes AND-ed. An axis without a given
    label is left whole, so that no labels select all cells.

    Raises
    ------
    InputError
        If a label is on no axis, or no cell has the selected labels.
    """
    there = list(dict.fromkeys(label for axis in experiment.axes for label in axis.labels))
    for label in labels:
        if label not in there:
            message = f"no axis has a label {label!r}; there are: {', '.join(there)}"
            raise InputError(Finding("unknown-label", message))
    wanted = {axis.name: set(axis.labels).intersection(labels) for axis in experiment.axes}
    chosen = [
        cell
        for cell in experiment.cells
        if all(not some or cell.labels[axis] in some for axis, some in wanted.items())
    ]
    if not chosen:
        message = f"no cell has the labels {', '.join(labels)} together"
        raise InputError(Finding("unknown-label", message))
    return chosen
