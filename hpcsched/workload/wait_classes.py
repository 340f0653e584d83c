"""Classes of jobs with similar expected wait times."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsched.workload.job import Job


class WaitClass(StrEnum):
    """Criterion of the classes."""

    QUEUE = "queue"
    PARTITION = "partition"
    UNITS = "units"

    def number(self, job: "Job") -> int:
        """Return the class of a job: its queue or partition, 0 if it has none, or its units."""
        number: int | None = getattr(job, self)
        return number or 0
