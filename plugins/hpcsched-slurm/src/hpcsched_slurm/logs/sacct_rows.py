"""Reader of the output of `sacct --parsable2` or `--parsable`, by the columns of its header."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.text_files import LONGEST, TextEncoding, TextLines
from hpcsched_slurm.logs.sacct_header import REMARKS, find_header, parse_header, what_it_is

_JOB = re.compile(rb"[0-9]+[0-9_+.\[\]%,-]*[a-z]*")
"""First column of a row that begins with the job id."""

_NUMBER, _NAME = "jobid", "jobname"

Row = dict[str, str]
"""Values of a row, by column in lower case."""


class SacctRows(TextLines):
    """Rows of a dump, or of all dumps in a folder, which must have the same header.

    Repeated headers are skipped, and remarks above the first one.

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
        lines = TextLines(path, self.encoding)
        number, line = self._found_header(lines)
        self.path = self._with_header = lines.path
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
        self._ends_in_name = self._columns.names[-1] == _NAME and not self._columns.has_end

    def _found_header(self, lines: TextLines) -> tuple[int, bytes]:
        """Return the number and text of the header, or else of the first line."""
        beginning = list(islice(lines.records(), REMARKS))
        texts = (line.decode(errors="replace") for _, line in beginning)
        return beginning[find_header(texts) or 0] if beginning else (1, b"")

    def _records_of(self, file: Path) -> Iterator[tuple[int, bytes]]:
        """Yield the number and text of every row of a file, but not the header.

        A row that a line end in a name broke is one: lines are joined until the number of columns
        fits, unless the next one begins with a job id.
        """
        begun: tuple[int, bytes] | None = None
        try:
            for number, line in super()._records_of(file):
                remark = file == self._with_header and number < self.header_line
                if remark or line.strip() == self._first:
                    continue
                joined = None if begun is None else self._joined(begun[1], line)
                if begun is not None and joined is not None:
                    begun = begun[0], joined
                    continue
                if begun is not None:
                    yield begun
                begun = number, line
        except InputError:  # the rows before it still count
            if begun is not None:
                yield begun
            raise
        if begun is not None:
            yield begun

    def _joined(self, begun: bytes, line: bytes) -> bytes | None:
        """Return a row that goes on in the next line; None if that is a row of its own."""
        separator = self._columns.separator.encode()
        lacking = self._columns.separators - begun.count(separator)
        more = line.count(separator)
        # A name in the last column may lack a part although no column does.
        goes_on = more <= lacking if lacking > 0 else not (lacking or more) and self._ends_in_name
        if not goes_on or len(begun) + len(line) > LONGEST or b"\0" in line:
            return None
        if self._columns.names[0] == _NUMBER:
            is_row = _JOB.fullmatch(line.partition(separator)[0].strip()) is not None
            # A job id has no line ends.
            if is_row or separator not in begun:
                return None
        return begun.rstrip(b"\r\n") + b" " + line

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
