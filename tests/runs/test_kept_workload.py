"""Workloads that stay in memory for scenarios with the same jobs."""

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsched.errors import InputError
from hpcsched.runs import kept_workload
from hpcsched.runs.assembly import assemble
from hpcsched.runs.kept_workload import keep_workload, kept_source
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.scenario.resolved import workload_key
from hpcsched.workload.job_batches import batches_of
from hpcsched.workload.trace_source import TraceSource

JOBS = 20_000


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_workload, "_kept", {})


def scenario(folder: Path, jobs: int = JOBS, **more: Any) -> Scenario:
    """Return a scenario of a log whose jobs ask for one to nine nodes, with two bad lines."""
    lines = ["; UnixStartTime: 0", "; a comment"]
    lines += [
        f"{n} {n * 3} 5 {n % 700} {1 + n // 2500} -1 -1 -1 900 -1 1 {n % 7} 1 1 1 1 {n - 1} -1"
        for n in range(1, jobs + 1)
    ]
    lines[jobs // 2] = lines[jobs - 3] = "-1 -1"
    (folder / "log.swf").write_text("\n".join(lines))
    return load_scenario(
        {
            "name": "kept",
            "system": {"groups": [{"name": "node", "count": 9, "resources": {"core": 1}}]},
            "trace": {
                "source": "swf",
                "path": str(folder / "log.swf"),
                "malformed": "skip",
                "transforms": [{"name": "jitter", "by": "1s"}],
            },
            "dispatcher": "easy",
            **more,
        }
    )


def told(source: TraceSource) -> Iterator[Any]:
    """Yield all that a replay asks a source for, batch by batch."""
    yield list(source.files), source.uniform_request, source.fraction_read
    for columns in batches_of(source):
        arrays = [column.tolist() for column in columns[:6]]
        yield arrays, list(columns.requests), columns.details.to_pydict(), columns.refused
        yield source.fraction_read, astuple(source.account)
    yield source.fraction_read, astuple(source.account), list(source.comments)


def test_a_kept_workload_tells_what_its_source_tells(tmp_path: Path) -> None:
    """Jobs, requests, account and progress after each batch; also when it is read again."""
    given = scenario(tmp_path)
    expected = list(told(assemble(given).source))
    assert len(expected) == 2 + 2 * 3
    keep_workload(given)
    kept = kept_source(given)
    assert kept is not None
    assert list(told(kept)) == expected
    assert list(told(kept))[1:] == expected[1:]
    assert list(kept.jobs()) == list(assemble(given).source.jobs())


def test_which_scenarios_share_jobs(tmp_path: Path) -> None:
    """Those that differ in what decides about jobs; not in the trace, the system or the seed."""
    given = scenario(tmp_path, 20)
    keep_workload(given)
    kept = kept_source(given)
    assert kept is not None
    for other in ({"dispatcher": "list"}, {"predictor": "actual"}, {"objective": "af"}):
        assert kept_source(scenario(tmp_path, 20, **other)) is kept
    assert kept_source(scenario(tmp_path, 20, seed=1)) is None
    keep_workload(scenario(tmp_path, 20, seed=1))
    assert len(kept_workload._kept) == 1
    assert kept_source(given) is None
    log = {"source": "swf", "path": str(tmp_path / "log.swf"), "malformed": "skip"}
    keep_workload(scenario(tmp_path, 20, trace=log))  # nothing in it is random
    assert kept_source(scenario(tmp_path, 20, trace=log, seed=1)) is not None


def test_a_log_that_changed_is_read_again(tmp_path: Path) -> None:
    """A kept workload is that of the files as they are."""
    given = scenario(tmp_path, 20)
    keep_workload(given)
    scenario(tmp_path, 30)
    keep_workload(given)
    kept = kept_source(given)
    assert kept is not None
    assert np.concatenate([columns.job_id for columns in batches_of(kept)]).max() == 30


def test_what_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long workloads, drawn ones, and those that cannot be read."""
    monkeypatch.setattr(kept_workload, "MOST_JOBS", 10)
    given = scenario(tmp_path, 20)
    keep_workload(given)
    assert kept_source(given) is None
    drawn = scenario(tmp_path, 20, trace={"source": "lublin99", "jobs": 5})
    keep_workload(drawn)
    assert kept_source(drawn) is None
    assert workload_key(given) != workload_key(drawn)
    (tmp_path / "log.swf").write_text("1 2 3\n")
    bad = scenario(tmp_path, 20, trace={"source": "swf", "path": str(tmp_path / "log.swf")})
    (tmp_path / "log.swf").write_text("1 2 3\n")
    with pytest.raises(InputError):
        keep_workload(bad)
    assert kept_source(bad) is None
