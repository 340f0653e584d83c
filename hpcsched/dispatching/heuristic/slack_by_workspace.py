"""Slack-based backfilling over a workspace, for problems that the core does not know."""

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.heuristic.conservative_by_workspace import ConservativeByWorkspace
from hpcsched.dispatching.heuristic.reserved_round import Compression, ReservedRound
from hpcsched.dispatching.problem import WaitingJob


class SlackByWorkspace(ConservativeByWorkspace):
    """Conservative backfilling whose promises have slack; see `slack`."""

    def __init__(
        self,
        allocator: Allocator,
        share: float,
        least_slack: int,
        compression: Compression = "arrival",
    ) -> None:
        super().__init__(allocator, compression)
        self.share = share
        self.least_slack = least_slack

    def _start(self, job: WaitingJob, current: ReservedRound) -> bool:
        """Start a job for which there is room, if nobody is delayed past the latest start."""
        return current.start(job) or current.push_aside(job, self._latest_starts(current))

    def _latest_starts(self, current: ReservedRound) -> dict[int, int]:
        return {
            name: self._latest_start(job, self.promised[name])
            for name, job in current.waiting.items()
        }

    def _latest_start(self, job: WaitingJob, promise: int) -> int:
        return promise + self.least_slack + int(self.share * (promise - job.submit_time))

    def _in_the_way(self, job: WaitingJob, current: ReservedRound) -> int | None:
        """Return a job that would be delayed past its latest start."""
        return current.refused.get(job.job_id)
