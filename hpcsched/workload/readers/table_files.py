"""Choice of the reader of a table: one file, a folder of files, or a log of Philly or Eurora."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.compressed_files import ENDINGS
from hpcsched.workload.readers.eurora_rows import EuroraRows
from hpcsched.workload.readers.philly_rows import PhillyRows
from hpcsched.workload.readers.table_rows import Rows, open_rows
from hpcsched.workload.readers.text_encoding import TextEncoding

if TYPE_CHECKING:
    from hpcsched.workload.readers.table_source_params import TableParams

_TABLES = (".csv", *(f".csv{ending}" for ending in ENDINGS), ".parquet")


def rows_of(params: "TableParams", encoding: TextEncoding) -> Rows:
    """Return the rows of a table.

    Raises
    ------
    InputError
        If it cannot be read or is no table.
    """
    path = Path(params.path)

    def read(file: Path) -> Rows:
        if params.format == "philly":
            return PhillyRows(file)
        if params.format == "eurora":
            return EuroraRows(file, encoding)
        return open_rows(file, params.delimiter, encoding, params.column_names)

    return FolderRows(path, read) if path.is_dir() else read(path)


def table_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and the folders within, in the order of their paths.

    Raises
    ------
    InputError
        If there are none.
    """
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.name.endswith(_TABLES) and not path.name.startswith(".") and path.is_file()
    ]
    if not found:
        message = (
            f"expected tables in the folder, by names that end in {', '.join(_TABLES)};"
            " found none; a log of another format is one file"
        )
        raise InputError(Finding("empty-trace", message, Place(str(folder))))
    return found


class FolderRows:
    """Rows of several files with the same columns, one file after the other.

    Attributes
    ----------
    path
        The file that is being read, to which the numbers of rows refer.

    Raises
    ------
    InputError
        If it holds no tables, or they cannot be read.
    """

    def __init__(self, folder: Path, read: Callable[[Path], Rows]) -> None:
        self.files: Sequence[Path] = table_files(folder)
        self.path = self.files[0]
        self._read = read
        self._wanted: Sequence[str] = ()
        self._current = read(self.path)
        self.names = self._current.names
        self.comments = self._current.comments

    @property
    def fraction_read(self) -> float:
        """Fraction of the files that has been read, from 0 to 1, by size."""
        sizes = [file.stat().st_size for file in self.files]
        at = self.files.index(self.path)
        done = sum(sizes[:at]) + sizes[at] * self._current.fraction_read
        return done / sum(sizes) if sum(sizes) else 1.0

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the number, within its file, and the content of each row.

        Raises
        ------
        InputError
            If a file cannot be read, or lacks a column that the first one has.
        """
        for file in self.files:
            self.path, self._current = file, self._read(file)
            lacking = [name for name in self._wanted if name not in self._current.names]
            if lacking:
                message = f"expected the columns of {self.files[0]}; there is no {lacking[0]!r}"
                raise InputError(Finding("missing-column", message, Place(str(file))))
            self._current.select(self._wanted)
            with closing(self._current.records()) as rows:
                yield from rows

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a row of the file that is being read."""
        return self._current.values(record)
