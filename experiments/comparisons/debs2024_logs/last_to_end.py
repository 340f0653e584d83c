"""The metrics without the jobs that end last, which an early version of the paper's program had.

It kept the jobs that ended before the last end, so that of those that end then none counts.
"""

import pyarrow as pa

from hpcsched.metrics.job_metrics import (
    area_weighted_response_time,
    mean_bounded_slowdown,
    mean_response_time,
    specific_response_time,
)
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.tables import ArrowTable

TAU, ALPHA = 10, 2
_COLUMNS = ("submit_time", "start_time", "end_time", "run_time", "demand")


def metrics_without_last(run: RunDirectory) -> dict[str, float | None]:
    """Return the metric of each objective over the jobs that end before the last end of all."""
    jobs = run.jobs.read(*_COLUMNS)
    ends = jobs["end_time"].to_numpy()
    earlier = ArrowTable(jobs.filter(pa.array(ends < ends.max())))
    return {
        "BSLD": mean_bounded_slowdown(earlier, TAU),
        "AF": mean_response_time(earlier),
        "AWF": area_weighted_response_time(earlier),
        "P2SF": specific_response_time(earlier, ALPHA),
    }
