"""Reader of the job log of Microsoft's Philly clusters, JSON, as rows of a table.

The log (`cluster_job_log`) is a list of jobs with their attempts. As in the notebook of the traces,
a job starts with its first attempt, ends with its last, and has the GPUs of its first.

Source: https://github.com/msr-fiddle/philly-traces.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import open_file
from hpcsched.workload.readers.compressed_files import DAMAGE, unpacked, whole_text
from hpcsched.workload.readers.policies import UnusableError

NAMES = (
    "jobid", "user", "vc", "status", "submitted_time", "start_time", "end_time", "servers", "gpus",
)  # fmt: skip
"""Columns: keys of a job, times of its first and last attempt, and sizes of its first."""

_OF_A_JOB = NAMES[:5]


class PhillyRows:
    """Rows of a job log of Philly.

    Raises
    ------
    InputError
        If the file cannot be read or is no such log.
    """

    comments: Sequence[str] = ()
    names: Sequence[str] = NAMES

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jobs = self._loaded()
        self._wanted: Sequence[str] = ()
        self._read = 0

    @property
    def files(self) -> Sequence[Path]:
        """The file."""
        return [self.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the jobs that has been read, from 0 to 1."""
        return self._read / len(self._jobs) if self._jobs else 1.0

    def select(self, names: Sequence[str]) -> None:
        """Select the columns to read, in this order."""
        self._wanted = names

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the position, from 1, and the object of each job."""
        self._read = 0
        for job in self._jobs:
            self._read += 1
            yield self._read, job

    def values(self, record: Any) -> Sequence[Any]:
        """Return the selected values of a job.

        Raises
        ------
        UnusableError
            If the object is no job.
        """
        try:
            found = _columns(record)
        except (KeyError, TypeError, AttributeError):
            message = "expected a job with attempts, each with start_time, end_time and detail"
            raise UnusableError("malformed", message) from None
        return [found.get(name) for name in self._wanted]

    def _loaded(self) -> list[Any]:
        try:
            with open_file(self.path) as raw:
                jobs = json.loads(whole_text(unpacked(raw), b"[", str(self.path)))
        except DAMAGE as error:
            message = f"expected a whole compressed file, found damage: {error}"
            raise self._problem("damaged-trace", message) from None
        except OSError as error:
            message = f"the trace cannot be read: {error.strerror or error}"
            raise self._problem("unreadable-trace", message) from None
        except (ValueError, RecursionError) as error:
            message = f"expected the job log of Philly (cluster_job_log), which is JSON: {error}"
            raise self._problem("malformed", message) from None
        if not isinstance(jobs, list):
            raise self._problem("malformed", "expected the job log of Philly, a list of jobs")
        return jobs

    def _problem(self, rule: str, message: str) -> InputError:
        return InputError(Finding(rule, message, Place(str(self.path))))


def _columns(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a job; raises KeyError, TypeError or AttributeError if it is none."""
    found = {name: _given(job[name]) for name in _OF_A_JOB}
    attempts = job["attempts"]
    if attempts:
        detail = attempts[0]["detail"]
        found["start_time"] = _given(attempts[0]["start_time"])
        found["end_time"] = _given(attempts[-1]["end_time"])
        found["servers"] = len(detail) or None
        found["gpus"] = sum(len(server["gpus"]) for server in detail) or None
    return found


def _given(value: Any) -> Any:
    """Return a value, or None for the word None that the log has for it."""
    return None if value == "None" else value
