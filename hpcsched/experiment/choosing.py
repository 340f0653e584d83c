"""Choosing some cells of an experiment by their labels."""

from collections.abc import Collection, Sequence

from hpcsched.errors import Finding, InputError
from hpcsched.experiment.cell import Cell
from hpcsched.experiment.reading import Experiment


def choose_cells(experiment: Experiment, labels: Collection[str]) -> Sequence[Cell]:
    """Return the cells with one of the labels on each axis that has any of them.

    An axis of which no label is given is left whole, so no labels choose all cells. Raises
    InputError where a label is on no axis, or where no cell has what is chosen.
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
