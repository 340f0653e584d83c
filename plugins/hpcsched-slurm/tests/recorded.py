"""What a real Slurm 22.05.8 said, cut to the keys that are read."""

import json
from pathlib import Path
from typing import Any

from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched_slurm.manager import cluster_of
from hpcsched_slurm.reading_jobs import Terms

FOLDER = Path(__file__).parent
NOW = 1_795_285_800.0
"""When it was recorded, in seconds since 1970."""
GIB = 2**30
MIB = 2**20


def said(what: str) -> list[dict[str, Any]]:
    """Return the recorded `jobs` or `nodes`."""
    listed: list[dict[str, Any]] = json.loads((FOLDER / f"{what}.json").read_text())[what]
    return listed


def read(**changes: Any) -> tuple[ClusterState, dict[str, ClusterJob]]:
    """Return the recorded cluster and its jobs by key; `changes` are made to the first job."""
    jobs = said("jobs")
    jobs[0].update(changes)
    state = cluster_of(jobs, said("nodes"), Terms("hpcsched", 1000), NOW)
    return state, {job.key: job for job in state.jobs}
