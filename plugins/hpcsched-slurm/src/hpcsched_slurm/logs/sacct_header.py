"""Lines of a dump of `sacct`: the names of columns, and the values between separators.

Source: the manual page `sacct` of SchedMD, options `--parsable`, `--parsable2`, `--delimiter`.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from hpcsched.workload.log_recognition import sacct_remedy

_SEPARATED = re.compile(r"[A-Za-z][A-Za-z0-9]*([^A-Za-z0-9]+)[A-Za-z]")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_USUAL = "|"
_NUMBER = "jobid"
_RAW_NUMBER = "jobidraw"
_NAME_OF_JOB = "jobname"
_TIMES = {"submit", "start", "end"}
_ROW = re.compile(r"[0-9][0-9_+.]*\|")
REMARKS = 100
"""Number of lines among which the header is looked for."""


class SacctHeader(NamedTuple):
    """Names of the columns, in lower case, and the separator.

    Attributes
    ----------
    names
        Name of each column; `jobid` stands for JobIDRaw in a dump without JobID.
    separator
        Text between two columns: `|`, or what `--delimiter` was given.
    has_end
        True if a separator ends each line, as `--parsable` writes it.
    """

    names: tuple[str, ...]
    separator: str
    has_end: bool

    @property
    def has_lists(self) -> bool:
        """True if a column holds lists with commas."""
        return any("tres" in name or "gres" in name for name in self.names)

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
        names, separator = self.names, self.separator
        fields = line.split(separator)
        if self.has_end:
            if fields[-1]:
                raise ValueError(f"expected {separator!r} at the end, as the header has")
            fields.pop()
        if names[-1] == _NAME_OF_JOB and len(fields) > len(names):
            last = len(names) - 1
            fields[last:] = [separator.join(fields[last:])]
        if len(fields) != len(names):
            raise ValueError(
                f"expected {len(names)} columns with {separator!r} between them, found"
                f" {len(fields)}; a {separator!r} in a job's name does no harm where JobName is the"
                " last column"
            )
        named = zip(reversed(names), reversed(fields), strict=True)
        return {name: field.strip() for name, field in named}


def parse_header(text: str) -> SacctHeader:
    """Return the columns of a header.

    A text that is none becomes one column of that name.

    Parameters
    ----------
    text
        The first line of the dump.

    Examples
    --------
    >>> parse_header("JobID;Submit;Start;")
    SacctHeader(names=('jobid', 'submit', 'start'), separator=';', has_end=True)
    """
    separator = _separator(text)
    names = [name.strip().lower() for name in text.split(separator)]
    has_end = len(names) > 1 and not names[-1]
    if has_end:
        names.pop()
    if _NUMBER not in names:
        names = [_NUMBER if name == _RAW_NUMBER else name for name in names]
    return SacctHeader(tuple(names), separator, has_end)


def is_header(text: str) -> bool:
    """Return whether a line names the columns of jobs; a table of another origin may have one."""
    names = set(parse_header(text.strip()).names)
    return _NUMBER in names and (_USUAL in text or names >= _TIMES)


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
    header = parse_header(line)
    if header.separator == "," and header.has_lists:
        return "',' also stands in lists such as AllocTRES: call sacct without --delimiter"
    return sacct_remedy(line)


def _separator(text: str) -> str:
    if _USUAL in text:
        return _USUAL
    match = _SEPARATED.match(text.strip())
    # Blanks fill the columns of a table for people; its values contain some, too.
    if match is None or match[1].strip(" ") != match[1]:
        return _USUAL
    names = text.strip().removesuffix(match[1]).split(match[1])
    return match[1] if all(map(_NAME.fullmatch, names)) else _USUAL
