"""Records of completed jobs in files: of `jobcomp/filetxt`, of `sacct`, of slurmdbd as JSON.

The first lines tell which kind a file is. It may be packed by gzip.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hpcsched import Finding, InputError, Place
from hpcsched_slurm.accounting_records import NO_RECORD, record_of
from hpcsched_slurm.logs.sacct_header import parse_header, what_it_is
from hpcsched_slurm.versions import check_version

NEEDED = (
    "JobIDRaw", "UID", "GID", "JobName", "Partition", "State", "Submit", "Start", "End",
    "TimelimitRaw", "NNodes", "NCPUS", "AllocTRES",
)  # fmt: skip
"""Fields of a record, by their names in sacct."""

_FURTHER = ("User", "Suspended")
_COMPLETED = re.compile(
    r"JobId=(?P<JobIDRaw>\d+) UserId=(?P<User>.*?)\((?P<UID>\d+)\) GroupId=.*?\((?P<GID>\d+)\)"
    r" Name=(?P<JobName>.*?) JobState=(?P<State>\w+) Partition=(?P<Partition>\S+)"
    r" TimeLimit=(?P<TimelimitRaw>\S+) StartTime=(?P<Start>\S+) EndTime=(?P<End>\S+)"
    r" NodeList=\S* NodeCnt=(?P<NNodes>\d+) ProcCnt=(?P<NCPUS>\d+) WorkDir=.*?"
    r" Tres=(?P<AllocTRES>\S*) .*?SubmitTime=(?P<Submit>\S+)"
    r"(?:.*? ArrayJobId=(?P<array>\d+) ArrayTaskId=(?P<task>\d+))?.*"
)
_BEGIN = "JobId="
_GZIP = b"\x1f\x8b"
_LOOKED_AT = 100
"""Lines among which one shows that a file is of `jobcomp/filetxt`: it may begin within a line."""


class HistoryRecord(NamedTuple):
    """Record of a job.

    Attributes
    ----------
    fields
        Values by their names in sacct; None: the record cannot be read.
    line
        Its line in the file; None: it has none.
    fault
        Why it cannot be read.
    """

    fields: Mapping[str, str | None] | None
    line: int | None = None
    fault: str = ""


def read_history(path: Path) -> Iterator[HistoryRecord]:
    """Yield the records of a file.

    Raises
    ------
    InputError
        If the file cannot be read, or is of none of the three kinds.
    """
    text = _text_of(path)
    if text.lstrip().startswith("{"):
        for job in _listed(text, path):
            record = record_of(job)
            yield HistoryRecord(record, fault="" if record else NO_RECORD)
        return
    lines = text.splitlines()
    if any(line.startswith(_BEGIN) for line in lines[:_LOOKED_AT]):
        for number, line in enumerate(lines, 1):
            if line.strip():
                match = _COMPLETED.fullmatch(line.rstrip())
                fault = "" if match else f"expected a line of jobcomp/filetxt, found {line[:60]!r}"
                yield HistoryRecord(match and match.groupdict(), number, fault)
        return
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    if len(parse_header(first).names) < 2:
        cause = what_it_is(first) or f"found {first[:60]!r}"
        message = f"expected a file of jobcomp/filetxt, or output of sacct --parsable2; {cause}"
        raise InputError(Finding("malformed", message, Place(str(path), 1)))
    yield from _rows_of(lines, path)


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"expected a whole gzip file: {error}"
        raise InputError(Finding("damaged-trace", message, Place(str(path)))) from None
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise InputError(Finding("unreadable-file", message, Place(str(path)))) from error
    return content.decode("utf-8-sig", errors="replace")


def _rows_of(lines: Sequence[str], path: Path) -> Iterator[HistoryRecord]:
    """Yield the rows of a dump of sacct; `lines` begins with the header."""
    (first, text), *rows = [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    header = parse_header(text)
    columns = {name: name.lower() for name in (*NEEDED, *_FURTHER)}
    if "jobidraw" in text.lower() and "jobidraw" not in header.names:
        columns["JobIDRaw"] = "jobid"  # JobIDRaw stands alone, and is called so
    missing = sorted(name for name in NEEDED if columns[name] not in header.names)
    if missing or (header.separator == "," and header.has_lists):
        cause = what_it_is(text)
        message = f"the columns {', '.join(missing)} of sacct are missing" if missing else ""
        message += f"{': ' if cause and message else ''}{cause}"
        raise InputError(Finding("malformed", message, Place(str(path), first)))
    for number, line in rows:
        if line == text:  # dumps that were put together
            continue
        try:
            row = header.values_of(line)
        except ValueError as error:
            yield HistoryRecord(None, number, str(error))
            continue
        yield HistoryRecord({name: row.get(own) for name, own in columns.items()}, number)


def _listed(text: str, path: Path) -> Sequence[object]:
    """Return the jobs of an answer of slurmdbd in a file."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"expected slurmdbd's answer as JSON, found {error}"
        raise InputError(Finding("malformed", message, Place(str(path)))) from error
    check_version(content, str(path))
    listed = content.get("jobs")
    if not isinstance(listed, list):
        message = "the answer of slurmdbd has no list of jobs"
        raise InputError(Finding("malformed", message, Place(str(path))))
    return listed
