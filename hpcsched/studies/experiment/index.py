"""Index of an experiment: its cells, and the place of each run."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.runs.files import read_json, write_json
from hpcsched.studies.experiment.axes import Axis
from hpcsched.studies.experiment.folder import INDEX
from hpcsched.whole_files import problem

if TYPE_CHECKING:
    from hpcsched.studies.experiment.cell import Cell

FORMAT = 1
"""Version of the index; readers refuse any other."""

CellStatus = Literal["waiting", "complete", "failed"]


class IndexedCell(BaseModel):
    """A cell in the index.

    Attributes
    ----------
    labels
        Labels by axis.
    run
        Run directory, relative to the experiment's folder.
    status
        No status for running cells: a killed experiment could not change it.
    message, log
        Reason of a failure, and file with more.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    labels: dict[str, str]
    replica: int
    seed: int
    address: str
    run: str
    status: CellStatus
    message: str
    log: str | None


class Index(BaseModel):
    """Content of `experiment.json`: labels by axis, and the cells in order."""

    model_config = ConfigDict(frozen=True)

    format: int
    experiment: str
    axes: dict[str, list[str]]
    cells: list[IndexedCell]


def make_index(
    name: str,
    axes: Iterable[Axis],
    cells: "Iterable[Cell]",
    statuses: Mapping[str, tuple[CellStatus, str]],
) -> Index:
    """Return the index of cells.

    Parameters
    ----------
    name
        Name of the experiment.
    axes
        Its axes.
    cells
        Its cells.
    statuses
        Status and message by address.
    """
    indexed = []
    for cell in cells:
        status, message = statuses.get(cell.address, ("waiting", ""))
        indexed.append(
            IndexedCell(
                name=cell.name,
                labels=dict(cell.labels),
                replica=cell.replica,
                seed=cell.scenario.seed,
                address=cell.address,
                # Relative, so that a folder can be moved or copied to another machine with its
                # index.
                run=f"runs/{cell.address}",
                status=status,
                message=message,
                log=f"logs/{cell.address}.log" if status == "failed" else None,
            )
        )
    labels = {axis.name: list(axis.labels) for axis in axes}
    return Index(format=FORMAT, experiment=name, axes=labels, cells=indexed)


def write_index(path: Path, index: Index) -> None:
    """Write an index atomically.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    write_json(path, index.model_dump(mode="json"))


def read_index(folder: Path) -> Index:
    """Return the index of an experiment's folder.

    Raises
    ------
    InputError
        If there is none, or it is damaged or of an unknown format.
    """
    path = folder / INDEX
    if not path.is_file():
        raise problem("not-an-experiment", folder, f"it has no {INDEX}")
    content: dict[str, Any] = read_json(path)
    if content.get("format") != FORMAT:
        message = f"it has format {content.get('format')!r}; format {FORMAT} is read"
        raise problem("unknown-format", path, message)
    try:
        return Index.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise problem("damaged-file", path, f"it is damaged: {key}: {first['msg']}") from error
