"""Record of the limits and the draws of all jobs, for a simulation of the live run."""

from pathlib import Path

from hpcsched.live.site import Site
from hpcsched.results.files import LIMITS, write_text
from hpcsched.system.cluster import ClusterState
from hpcsched.system.group_limits import LimitedJob
from hpcsched.workload.limits_file import SeenLimits, limits_line


class LimitsRecord:
    """Limits of the jobs of a site, as each job had them when it last waited.

    Parameters
    ----------
    site
        The site.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen: dict[int, SeenLimits] = {}

    def take(self, state: ClusterState) -> None:
        """Add the state of a round."""
        for job in state.jobs:
            if not self._site.has(job) or job.phase == "ended":
                continue
            # A job that runs need not keep to limits any more.
            if job.phase != "running" or job.job_id not in self._seen:
                limited = LimitedJob(job.key, job.groups, job.limits, job.usage)
                self._seen[job.job_id] = SeenLimits(limited, job.shared)

    def write(self, folder: Path) -> None:
        """Write `limits.jsonl`: a line for each job with limits, groups or draws."""
        lines = (
            limits_line(job_id, seen)
            for job_id, seen in sorted(self._seen.items())
            if seen.job.groups or seen.shared
        )
        write_text(folder / LIMITS, "".join(lines))
