"""The protocol of rehearsals, which replay the past."""

from typing import Any, Protocol

from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns


class Rehearsal(Protocol):
    """Replays jobs on the scenario's system, empty at first, under a dispatcher made anew.

    The `requested_time` of each job stands for its predicted run time.
    """

    def is_compiled(self, choice: Any) -> bool:
        """Say whether a dispatcher is replayed in compiled code, without Python at each round."""

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission."""
