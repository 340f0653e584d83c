"""The index of an experiment: its cells, and where the run of each is."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.experiment.axes import Axis
from hpcsched.experiment.cell import Cell
from hpcsched.experiment.folder import INDEX
from hpcsched.results.files import problem, read_json, write_json

FORMAT = 1
"""The version of the index; readers refuse any other."""

CellStatus = Literal["waiting", "complete", "failed"]


class IndexedCell(BaseModel):
    """A cell in the index: `labels` by axis, `run` relative to the experiment's folder.

    There is no status for a cell that is running, since who would change it may be killed.
    `message` says why a cell failed, and `log` where more is.
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
    """The content of `experiment.json`: labels by axis, and the cells in order."""

    model_config = ConfigDict(frozen=True)

    format: int
    experiment: str
    axes: dict[str, list[str]]
    cells: list[IndexedCell]


def make_index(
    name: str,
    axes: Iterable[Axis],
    cells: Iterable[Cell],
    statuses: Mapping[str, tuple[CellStatus, str]],
) -> Index:
    """Return the index of cells; `statuses` has status and message by address."""
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
                run=f"runs/{cell.address}",
                status=status,
                message=message,
                log=f"logs/{cell.address}.log" if status == "failed" else None,
            )
        )
    labels = {axis.name: list(axis.labels) for axis in axes}
    return Index(format=FORMAT, experiment=name, axes=labels, cells=indexed)


def write_index(path: Path, index: Index) -> None:
    """Write an index as a whole; raises InputError where it cannot be written."""
    write_json(path, index.model_dump(mode="json"))


def read_index(folder: Path) -> Index:
    """Return the index of an experiment's folder.

    Raises InputError where there is none, it is damaged, or of a format that is not known here.
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
