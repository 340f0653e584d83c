"""Record of the limits and the draws of all jobs, for a simulation of the live run."""

from pathlib import Path

from hpcsched.runs.files import LIMITS
from hpcsched.system.cluster import ClusterState
from hpcsched.system.group_limits import LimitedJob, SeenLimits, limits_line
from hpcsched.whole_files import write_text
from hpcsched_slurm.live.site import Site


class LimitsRecord:
    """Limits of the jobs of a site, as each job had them when it last waited.

    Of a job that was blocked by itself, as by a limit of its partition, the end of that is kept.

    Parameters
    ----------
    site
        The site.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen: dict[int, SeenLimits] = {}
        self._blocked: dict[int, str] = {}

    def take(self, state: ClusterState, now: int) -> None:
        """Add the state of a round at `now`, in seconds since the site's origin."""
        for job in state.jobs:
            if not self._site.has(job) or job.phase == "ended":
                continue
            before = self._seen.get(job.job_id)
            # A job that runs need not keep to limits any more.
            if job.phase == "running" and before is not None:
                continue
            until, why = (0, "") if before is None else (before.job.until, before.job.why)
            if job.phase == "blocked":
                self._blocked[job.job_id] = job.why
            elif job.job_id in self._blocked:
                until, why = now, self._blocked.pop(job.job_id)
            limited = LimitedJob(job.key, job.groups, job.limits, job.usage, until, why)
            self._seen[job.job_id] = SeenLimits(limited, job.shared)

    def write(self, folder: Path) -> None:
        """Write `limits.jsonl`: a line for each job with groups or draws, or that was blocked."""
        lines = (
            limits_line(job_id, seen)
            for job_id, seen in sorted(self._seen.items())
            if seen.job.groups or seen.shared or seen.job.until
        )
        write_text(folder / LIMITS, "".join(lines))
