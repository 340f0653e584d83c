"""Outcomes by hand, and a small study."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hpcsched.report.compared_study import JobTimes
from hpcsched.report.job_breakdown import JobAttributes
from hpcsched.studies.whatif_study import JobOutcomes

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "small-easy.yaml"
FEW = ("trace.jobs=200",)
VARIATION = """\
name: tried
variants:
  - {name: shortest-first, set: {dispatcher.order: sjf}}
matrix:
  - dispatcher: [{name: list, order: fcfs}, {name: list, order: saf}]
"""


def outcome(
    starts: Sequence[int],
    *,
    submits: Sequence[int] | None = None,
    run_time: int = 100,
    comments: tuple[str, ...] = (),
    **attributes: list[Any],
) -> JobOutcomes:
    """Return the outcomes of jobs 1, 2 and so on, that are submitted at 0 by default."""
    count = len(starts)
    begins = np.array(starts, dtype=np.int64)
    jobs = JobTimes(
        np.arange(1, count + 1),
        np.array([0] * count if submits is None else submits, dtype=np.int64),
        begins,
        begins + run_time,
        10,
    )
    return JobOutcomes(
        jobs, JobAttributes({"units": [1] * count, **attributes}, jobs.submits, comments)
    )


def variation(folder: Path, text: str = VARIATION) -> Path:
    """Write a variation file and return its path."""
    path = folder / "variation.yaml"
    path.write_text(text)
    return path
