"""Reader of the output of `sacct --parsable2` or `--parsable`, by the columns of its header."""

from collections.abc import Generator
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.accounting_logs.sacct_header import parse_header, what_it_is
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
        found = parse_header(self.header)
        self._names, self._separator, self._has_end = found
        if self._separator == "," and found.has_lists:
            # A list in the middle would pass for several columns, and JobName take up the rest.
            raise self._no_header(what_it_is(self.header))
        self._name_is_last = self._names[-1] == "jobname"
        self.columns = frozenset(self._names)

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

        A job's name in the last column may contain the separator.

        Parameters
        ----------
        line
            The line, in UTF-8.

        Raises
        ------
        UnusableError
            If the line is no row.
        """
        separator = self._separator
        fields = _text(line).split(separator)
        if self._has_end:
            if fields[-1]:
                message = f"expected {separator!r} at the end, as the header has"
                raise UnusableError("malformed", message)
            fields.pop()
        names = self._names
        if self._name_is_last and len(fields) > len(names):
            last = len(names) - 1
            fields[last:] = [separator.join(fields[last:])]
        if len(fields) != len(names):
            raise UnusableError(
                "malformed",
                f"expected {len(names)} columns with {separator!r} between them, found"
                f" {len(fields)}; a {separator!r} in a job's name does no harm where JobName is the"
                " last column",
            )
        # Of a column that is there twice, the first counts.
        named = zip(reversed(names), reversed(fields), strict=True)
        return {name: field.strip() for name, field in named}

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
