"""The transform `patience`, by hand."""

import math
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.workload.transforms import job_transforms
from tests.workload.transforms.chains import Given, chain, read, submitted


def test_patiences_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws below the share 0.5 are impatient: half of it is the median, 1000 · ln 2 = 693.1 s."""
    draws = {1: 0.0, 2: 0.25, 3: 0.5, 4: 0.45}
    monkeypatch.setattr(job_transforms, "own_share", lambda *labels: draws[labels[-1]])
    source = chain(Given(submitted([0, 10, 11, 20])), ("patience", {"mean": 1000, "share": 0.5}))
    found = [traced.job.patience for traced in read(source)]
    assert found == [0, 693, None, 2302]  # 1000 · ln 10 = 2302.6
    assert source.account.changed == {"impatient": 3}


def test_the_mean() -> None:
    """Of 3,000 jobs the mean is within four standard errors of 600 s, and seeds matter."""
    means = []
    for seed in (1, 2):
        source = chain(Given(submitted(range(3000))), ("patience", {"mean": "10min", "seed": seed}))
        waits = [traced.job.patience for traced in read(source)]
        means.append(sum(wait for wait in waits if wait is not None) / 3000)
    assert all(abs(mean - 600) < 4 * 600 / math.sqrt(3000) for mean in means)
    assert means[0] != means[1]


def test_no_decisions_that_take_time(tmp_path: Path) -> None:
    """Jobs that are withdrawn are refused there, with one message."""
    (tmp_path / "jobs.swf").write_text("1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: s\nsystem: {groups: [{name: n, count: 1, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: jobs.swf, transforms: [{name: patience, mean: 9}]}\n"
        "dispatcher: easy\nsimulation: {dispatch_latency: {fixed: 1s}}\n"
    )
    with pytest.raises(InputError, match="decisions that take no time"):
        run(load_scenario(path), tmp_path / "run")
