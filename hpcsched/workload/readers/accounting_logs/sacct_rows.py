"""Reader of the output of `sacct --parsable2` or `--parsable`, by the columns of its header."""

from collections.abc import Generator
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.slurm.sacct_header import parse_header, what_it_is
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.text_encoding import TextEncoding
from hpcsched.workload.readers.text_lines import TextLines

Row = dict[str, str]
"""Values of a row, by column in lower case."""


class SacctRows(TextLines):
    """Rows of a dump, or of all dumps in a folder, which must have the same header.

    Repeated headers are skipped.

    Parameters
    ----------
    path
        The file or folder.
    encoding
        Encoding of the files; UTF-8 if not given.

    Raises
    ------
    InputError
        If there is no header.
    """

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        super().__init__(path, encoding)
        number, line = next(super().records(), (1, b""))
        self.header_line = number
        self._first = line.strip()
        try:
            self.header = _text(self.encoding.header(line, Place(str(self.path), number)))
        except UnusableError as error:
            raise self._no_header(str(error)) from None
        if not self.header:
            raise self._no_header("found nothing")
        self._columns = parse_header(self.header)
        if self._columns.separator == "," and self._columns.has_lists:
            # A list in the middle would pass for several columns, and JobName take up the rest.
            raise self._no_header(what_it_is(self.header))
        self.columns = frozenset(self._columns.names)

    def records(self) -> Generator[tuple[int, bytes], None, None]:
        """Yield the number and text of every line that is neither blank nor the header.

        Raises
        ------
        InputError
            If a file cannot be read or is damaged.
        """
        for number, line in super().records():
            if line.strip() != self._first:
                yield number, line

    def row(self, line: bytes) -> Row:
        """Return the values of a line by column.

        Parameters
        ----------
        line
            The line, in UTF-8.

        Raises
        ------
        UnusableError
            If the line is no row.
        """
        try:
            return self._columns.values_of(_text(line))
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None

    def _no_header(self, found: str) -> InputError:
        return InputError(
            Finding(
                "missing-columns",
                f"expected a line of columns such as JobID|Submit|Start|End first, {found}",
                Place(str(self.path), self.header_line),
            )
        )


def _text(line: bytes) -> str:
    if b"\0" in line:
        raise UnusableError("malformed", "expected text, found a NUL byte")
    return line.decode().rstrip("\r\n")
