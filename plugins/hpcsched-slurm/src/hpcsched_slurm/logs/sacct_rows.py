"""Output of `sacct --parsable2` or `--parsable`: columns of its header, rows, job ids.

Source: the manual page `sacct` of SchedMD.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.log_recognition import sacct_remedy
from hpcsched.workload.readers.accounting_log import (
    FEDERATED_JOBS,
    component_number,
    job_number,
    task_number,
)
from hpcsched.workload.readers.text_files import LONGEST, TextLines

_SEPARATOR = "|"
_DELIMITED = re.compile(r"JobID(Raw)?[^A-Za-z0-9| ]")
_NUMBER = "jobid"
_RAW_NUMBER = "jobidraw"
_NAME_OF_JOB = "jobname"
_TIMES = {"submit", "start", "end"}
_ROW = re.compile(r"[0-9][0-9_+.]*\|")
REMARKS = 100
"""Number of lines among which the header is looked for."""


class SacctHeader(NamedTuple):
    """Names of the columns, in lower case.

    Attributes
    ----------
    names
        Name of each column; `jobid` stands for JobIDRaw in a dump without JobID.
    has_end
        True if a separator ends each line, as `--parsable` writes it.
    """

    names: tuple[str, ...]
    has_end: bool

    @property
    def separators(self) -> int:
        """Number of separators in a line."""
        return len(self.names) - 1 + self.has_end

    def values_of(self, line: str) -> dict[str, str]:
        """Return the values of a line by column, without spaces around them.

        A job's name in the last column may contain the separator. Of a column that is there twice,
        the first counts.

        Raises
        ------
        ValueError
            If the line has more or fewer columns.
        """
        names = self.names
        fields = line.split(_SEPARATOR)
        if self.has_end:
            if fields[-1]:
                raise ValueError("expected '|' at the end, as the header has")
            fields.pop()
        if names[-1] == _NAME_OF_JOB and len(fields) > len(names):
            last = len(names) - 1
            fields[last:] = [_SEPARATOR.join(fields[last:])]
        if len(fields) != len(names):
            raise ValueError(
                f"expected {len(names)} columns with '|' between them, found {len(fields)}; a '|'"
                " in a job's name does no harm where JobName is the last column"
            )
        named = zip(reversed(names), reversed(fields), strict=True)
        return {name: field.strip() for name, field in named}


def parse_header(text: str) -> SacctHeader:
    """Return the columns of a header.

    A text that is none becomes one column of that name.

    Examples
    --------
    >>> parse_header("JobID|Submit|Start|")
    SacctHeader(names=('jobid', 'submit', 'start'), has_end=True)
    """
    names = [name.strip().lower() for name in text.split(_SEPARATOR)]
    has_end = len(names) > 1 and not names[-1]
    if has_end:
        names.pop()
    if _NUMBER not in names:
        names = [_NUMBER if name == _RAW_NUMBER else name for name in names]
    return SacctHeader(tuple(names), has_end)


def is_header(text: str) -> bool:
    """Return whether a line names the columns of jobs; a table of another origin may have one."""
    names = set(parse_header(text.strip()).names)
    return _NUMBER in names and (_SEPARATOR in text or names >= _TIMES)


def find_header(lines: Iterable[str]) -> int | None:
    """Return the index of the header, which remarks may precede but no job; None: there is none."""
    for index, line in enumerate(islice(lines, REMARKS)):
        if is_header(line):
            return index
        if _ROW.match(line.strip()):
            return None
    return None


def what_it_is(text: str) -> str:
    """Return a diagnosis of a line without the needed columns, with advice; or an empty text."""
    line = text.strip()
    if _DELIMITED.match(line):
        return "its columns are not separated by '|': call sacct without --delimiter"
    return sacct_remedy(line)


# Job, then array task, pending tasks `_[...]` or component, then step such as `.batch`.
_JOB_ID = re.compile(
    r"(?P<job>[0-9]{1,10})"
    r"(?:_(?P<task>[0-9]{1,7})|_(?P<pending>\[[^\]|]*\])|\+(?P<component>[0-9]{1,6}))?"
    r"(?P<step>\.[^\s|]+)?"
)


class SlurmJobId(NamedTuple):
    """Parsed job id.

    Attributes
    ----------
    is_pending
        Whether the record is of all tasks of an array that have not started.
    """

    number: int
    is_step: bool = False
    is_pending: bool = False


def parse_job_id(text: str) -> SlurmJobId:
    """Return the parts of a job id such as `123`, `123_4`, `123+1` or `123.batch`.

    Raises
    ------
    ValueError
        If the text is no job id.
    """
    match = _JOB_ID.fullmatch(text)
    if match is None or int(match["job"]) >= FEDERATED_JOBS:
        raise ValueError(f"expected a job id such as 123, 123_4 or 123+1, found {text!r}")
    number = int(match["job"])
    if match["task"]:
        number = task_number(number, int(match["task"]))
    elif match["component"]:
        number = component_number(number, int(match["component"]))
    else:
        number = job_number(number)
    return SlurmJobId(number, bool(match["step"]), bool(match["pending"]))


_JOB = re.compile(r"[0-9]+[0-9_+.\[\]%,-]*[a-z]*")
"""First column of a row that begins with the job id."""

_NAME = "jobname"

Row = dict[str, str]
"""Values of a row, by column in lower case."""


class SacctRows(TextLines):
    """Rows of a dump, or of all dumps in a folder, which must have the same header.

    Repeated headers are skipped, and remarks above the first one.

    Raises
    ------
    InputError
        If there is no header.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        lines = TextLines(path)
        number, line = self._found_header(lines)
        self.path = self._with_header = lines.path
        self.header_line = number
        self._first = line.strip()
        self.header = line
        if not self.header:
            raise self._no_header("found nothing")
        self._columns = parse_header(self.header)
        self.columns = frozenset(self._columns.names)
        self._ends_in_name = self._columns.names[-1] == _NAME and not self._columns.has_end

    def _found_header(self, lines: TextLines) -> tuple[int, str]:
        """Return the number and text of the header, or else of the first line."""
        beginning = list(islice(lines.records(), REMARKS))
        texts = (line for _, line in beginning)
        return beginning[find_header(texts) or 0] if beginning else (1, "")

    def _records_of(self, file: Path) -> Iterator[tuple[int, str]]:
        """Yield the number and text of every row of a file, but not the header.

        A row that a line end in a name broke is one: lines are joined until the number of columns
        fits, unless the next one begins with a job id.
        """
        begun: tuple[int, str] | None = None
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

    def _joined(self, begun: str, line: str) -> str | None:
        """Return a row that goes on in the next line; None if that is a row of its own."""
        lacking = self._columns.separators - begun.count(_SEPARATOR)
        more = line.count(_SEPARATOR)
        # A name in the last column may lack a part although no column does.
        goes_on = more <= lacking if lacking > 0 else not (lacking or more) and self._ends_in_name
        if not goes_on or len(begun) + len(line) > LONGEST:
            return None
        if self._columns.names[0] == _NUMBER:
            is_row = _JOB.fullmatch(line.partition(_SEPARATOR)[0].strip()) is not None
            # A job id has no line ends.
            if is_row or _SEPARATOR not in begun:
                return None
        return f"{begun} {line}"

    def row(self, line: str) -> Row:
        """Return the values of a line by column; raises ValueError if it is no row."""
        return self._columns.values_of(line)

    def _no_header(self, found: str) -> InputError:
        return InputError(
            Finding(
                "missing-columns",
                f"expected a line of columns such as JobID|Submit|Start|End first, {found}",
                Place(str(self.path), self.header_line),
            )
        )
