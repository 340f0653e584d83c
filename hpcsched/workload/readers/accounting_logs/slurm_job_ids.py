"""Job ids as Slurm writes them, and the job numbers that stand for them.

Source: the manual page `sacct` of SchedMD.
"""

import re
from typing import NamedTuple

from hpcsched.workload.readers.accounting_logs.part_numbers import component_number, task_number

_JOB_ID = re.compile(
    r"(?P<job>[0-9]{1,9})"
    r"(?:_(?P<task>[0-9]{1,7})|_(?P<pending>\[[^\]|]*\])|\+(?P<component>[0-9]{1,6}))?"
    r"(?P<step>\.[^\s|]+)?"
)


class SlurmJobId(NamedTuple):
    """What a job id says: the number of the job, or of the part of a job, that it is about.

    `is_step` says that it is about a job step; `is_pending` that it is about the tasks of an array
    that have not started, which have one record together.
    """

    number: int
    is_step: bool = False
    is_pending: bool = False


def parse_job_id(text: str) -> SlurmJobId:
    """Return what a job id such as `123`, `123_4`, `123+1` or `123.batch` says.

    Raises ValueError for any other text.
    """
    match = _JOB_ID.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a job id such as 123, 123_4 or 123+1, found {text!r}")
    number = int(match["job"])
    if match["task"]:
        number = task_number(number, int(match["task"]))
    elif match["component"]:
        number = component_number(number, int(match["component"]))
    return SlurmJobId(number, bool(match["step"]), bool(match["pending"]))
