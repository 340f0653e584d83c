"""Tables of solved dispatching problems: a Parquet file with a row for each problem."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.studies.problems.lines import in_words
from hpcsched.whole_files import cannot_write, replacing
from hpcsched.whole_files import problem as fault

FORMAT = 2
"""Version of the tables; readers refuse any other."""
KEY = b"hpcsched-instances"
"""Under which key the Parquet file's metadata has what a table is about, as JSON."""
SUFFIX = ".parquet"
PACKAGES = ("numpy", "pyarrow", "cpmpy", "ortools")
"""Packages that solve dispatching problems."""
_BATCH = 4096


class Row(NamedTuple):
    """Answer to one dispatching problem.

    Attributes
    ----------
    queued, running, started, rejected
        Numbers of jobs.
    started_slowdown
        Sum of the slowdowns of the started jobs, by predicted run times.
    decision_time
        Real seconds.
    solver_status
        This and the following fields are those of `SolverCall`; None where no solver was asked.
    """

    round: int
    now: int
    queued: int
    running: int
    started: int
    rejected: int
    started_slowdown: float
    decision_time: float
    fallback: bool
    solver_status: str | None
    modelled_jobs: int | None
    variables: int | None
    objective: float | None
    bound: float | None
    build_time: float | None
    transform_time: float | None
    solve_time: float | None
    branches: int | None = None
    fails: int | None = None


_COUNTS = ("round", "now", "queued", "running", "started", "rejected")
_SECONDS = ("build_time", "transform_time", "solve_time")
SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int64(), nullable=False) for name in _COUNTS),
        pa.field("started_slowdown", pa.float64(), nullable=False),
        pa.field("decision_time", pa.float64(), nullable=False),
        pa.field("fallback", pa.bool_(), nullable=False),
        ("solver_status", pa.string()),
        ("modelled_jobs", pa.int64()),
        ("variables", pa.int64()),
        ("objective", pa.float64()),
        ("bound", pa.float64()),
        *((name, pa.float64()) for name in _SECONDS),
        ("branches", pa.int64()),
        ("fails", pa.int64()),
    ]
)
"""Columns: the fields of `Row`."""


class Instances(BaseModel):
    """File of the solved dispatching problems."""

    model_config = ConfigDict(frozen=True)

    file: str
    sha256: str
    scenario: str


class About(BaseModel):
    """Description of a table: scenario, dispatcher, problems and versions."""

    model_config = ConfigDict(frozen=True)

    format: int
    name: str
    dispatcher: dict[str, Any]
    objective: dict[str, Any]
    seed: int
    scenario: str
    instances: Instances
    versions: dict[str, str]
    plugins: dict[str, str]
    platform: str


class TableWriter:
    """Appends rows to a table, a row group at a time; see `write_table`."""

    def __init__(self, path: Path, writer: pq.ParquetWriter) -> None:
        self._path, self._writer = path, writer
        self._rows: list[Row] = []
        self.written = 0

    def add(self, row: Row) -> None:
        """Append a row.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        self._rows.append(row)
        self.written += 1
        # Row by row each would be a row group; all at once they would be in memory together.
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(c, field.type) for c, field in zip(columns, SCHEMA, strict=True)]
        self._rows = []
        try:
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA))
        except OSError as error:
            raise cannot_write(self._path, error) from error


@contextmanager
def write_table(path: Path, about: About, *, force: bool) -> Iterator[TableWriter]:
    """Open a table for writing; it appears under its name when all rows are written.

    Parameters
    ----------
    path
        The file.
    about
        Description of the table.
    force
        True: replace an existing file.

    Raises
    ------
    InputError
        If the file exists or cannot be written.
    """
    schema = SCHEMA.with_metadata({KEY: about.model_dump_json()})
    with (
        replacing(path, force=force) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as parquet,
    ):
        writer = TableWriter(path, parquet)
        yield writer
        writer.flush()


@dataclass(frozen=True, slots=True, eq=False)
class SolvedTable:
    """A table that was read.

    Attributes
    ----------
    path
        The file.
    about
        Its description.
    columns
        Its columns; nan and None for missing values.
    """

    path: Path
    about: About
    columns: Mapping[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        return len(self.columns["round"])

    @classmethod
    def open(cls, path: Path) -> "SolvedTable":
        """Read a table: a file, or a folder with one table.

        Raises
        ------
        InputError
            If there is none, or it is damaged or of an unknown format.
        """
        file = _table_in(path) if path.is_dir() else path
        if not file.is_file():
            raise fault("missing-file", file, "there is no such table")
        try:
            table = pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise fault("damaged-file", file, f"expected a Parquet table: {reason}") from error
        about = _about(file, table.schema.metadata)
        # Types are compared too: a column that another program wrote as floats would lose large
        # numbers.
        for field in SCHEMA:
            if field.name not in table.column_names or table.field(field.name).type != field.type:
                message = f"it is damaged: expected a column {field.name!r} of {field.type}"
                raise fault("damaged-file", file, message)
        columns = {name: table[name].to_numpy() for name in SCHEMA.names}
        return cls(file, about, columns)


def _about(file: Path, metadata: Mapping[bytes, bytes] | None) -> About:
    text = (metadata or {}).get(KEY)
    if text is None:
        raise fault("not-solved", file, "it is no table of solved dispatching problems")
    try:
        content = json.loads(text)
        found = content.get("format")
        if found != FORMAT:
            message = f"it has format {found!r}; this version of hpcsched reads format {FORMAT}"
            raise fault("unknown-format", file, message)
        return About.model_validate(content)
    except ValidationError as error:
        raise fault("damaged-file", file, f"it is damaged: {in_words(error)}") from error
    except (ValueError, AttributeError) as error:
        raise fault("damaged-file", file, f"it is damaged: {error}") from error


def _table_in(folder: Path) -> Path:
    tables = sorted(folder.glob(f"*{SUFFIX}"))
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise fault("missing-file", folder, f"expected a table *{SUFFIX} in it, found none")
    names = ", ".join(path.name for path in tables)
    raise fault("several-tables", folder, f"expected one table in it; name one of: {names}")
