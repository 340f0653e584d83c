"""Reader of records in accounting logs of PBS: `date time;type;id;key=value key=value …`."""

import re
from typing import NamedTuple

from hpcsched.workload.readers.accounting_logs.part_numbers import task_number
from hpcsched.workload.readers.policies import SetAsideError, UnusableError

_DATE = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?")
_TYPE = re.compile(r"[A-Za-z]")
_JOB_ID = re.compile(r"([0-9]{1,9})(?:\[([0-9]{0,7})\]|-([0-9]{1,7}))?(?:\.[^\s;]+)?")
_ITEM = re.compile(r'([^\s="]+)=("[^"]*"|[^\s]*)|(\S+)')
ENDED = "E"
"""Type of the record of a job's end."""


class EndRecord(NamedTuple):
    """Record of the end of a job.

    Attributes
    ----------
    number
        Number of the job or array task.
    attributes
        Values by attribute, as texts.
    """

    number: int
    attributes: dict[str, str]


def parse_end(line: bytes) -> EndRecord:
    """Return the record of the end of a job.

    Parameters
    ----------
    line
        The line, in UTF-8.

    Raises
    ------
    SetAsideError
        If the record has another type (`record_Q`, …), or is of a whole array (`whole_array`).
    UnusableError
        If the line is no record.
    """
    # At most three splits: attributes may contain semicolons.
    fields = _text(line).split(";", 3)
    if len(fields) < 4 or not _DATE.fullmatch(fields[0]) or not _TYPE.fullmatch(fields[1]):
        raise UnusableError(
            "malformed", "expected a record such as 03/01/2024 12:00:00;E;123.server;user=…"
        )
    _, kind, job_id, said = fields
    if kind != ENDED:
        raise SetAsideError(f"record_{kind}", f"a record of the type {kind}")
    return EndRecord(_number(job_id), _attributes(said))


def _number(text: str) -> int:
    match = _JOB_ID.fullmatch(text)
    if match is None:
        raise UnusableError("malformed", f"expected a job id such as 123.server, found {text!r}")
    job = int(match[1])
    task = match[2] if match[2] is not None else match[3]
    if task is None:
        return job
    if not task:
        raise SetAsideError("whole_array", "the end of an array, whose tasks have records")
    try:
        return task_number(job, int(task))
    except ValueError as error:
        raise UnusableError("malformed", str(error)) from None


def _attributes(text: str) -> dict[str, str]:
    """Return attributes by name; words without `=` belong to the value before them."""
    found: dict[str, str] = {}
    last = ""
    for key, value, word in _ITEM.findall(text):
        if key:
            last = key
            found[key] = value.strip('"')
        elif last:
            found[last] += f" {word}"
        else:
            raise UnusableError("malformed", f"expected attributes such as user=…, found {word!r}")
    return found


def _text(line: bytes) -> str:
    if b"\0" in line:
        raise UnusableError("malformed", "expected text, found a NUL byte")
    return line.decode().strip()
