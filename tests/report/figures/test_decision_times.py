"""Decision times by queue length, by hand."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.figures import run_series as module
from hpcsched.report.figures.run_series import QueueBin, by_queue_length
from hpcsched.report.studied_runs import open_study
from tests.report.studies import write_studied


def test_ranges_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are 0, 1, 2 to 3, 4 to 7; those without rounds are left out.

    Of the rounds with two and three jobs, which took 1, 2 and 6 s, the mean is 3 s and the median
    2 s; the 90th percentile by nearest rank is the largest.
    """
    queued = np.array([3, 0, 2, 7, 3])
    seconds = np.array([6.0, 0.5, 1.0, 8.0, 2.0])
    monkeypatch.setattr(module, "decision_times", lambda _: (queued, seconds))
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    assert list(by_queue_length(one)) == [
        QueueBin(0, 0, 1, 0.5, 0.5, 0.5, 0.5),
        QueueBin(2, 3, 3, 3.0, 2.0, 6.0, 6.0),
        QueueBin(4, 7, 1, 8.0, 8.0, 8.0, 8.0),
    ]
