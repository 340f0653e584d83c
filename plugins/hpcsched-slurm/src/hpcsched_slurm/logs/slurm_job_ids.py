"""Job ids of Slurm, and their job numbers.

Source: the manual page `sacct` of SchedMD.
"""

import re
from typing import NamedTuple

from hpcsched.workload.readers.accounting_log import (
    FEDERATED_JOBS,
    component_number,
    job_number,
    task_number,
)

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
    number
        Number of the job, or of the part of a job.
    is_step
        Whether the record is of a job step.
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
