"""Classes of jobs that are expected to wait alike."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsched.workload.job import Job


class WaitClass(StrEnum):
    """What tells jobs apart: their queue, their partition, or how many units they have."""

    QUEUE = "queue"
    PARTITION = "partition"
    UNITS = "units"

    def number(self, job: "Job") -> int:
        """Return the number of a job's queue or partition, 0 if it has none, or its units."""
        number: int | None = getattr(job, self)
        return number or 0
