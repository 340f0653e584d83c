"""The observer `cpu-memory`, and what is made of what it records."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.runs import observers
from hpcsched.runs.observers import ProcessUsage, resident_memory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.simulation.records import RoundRecord
from hpcsched.testing import make_problem
from hpcsched.workload.job import TracedJob
from tests.builders import alike, traced

SCENARIO = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"
MB = 1_000_000


class Clock:
    """A clock of CPU time that is told how much time passes."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


class Slow:
    """A dispatcher that takes 3 s and starts nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Let time pass."""
        self._clock.seconds += 3
        return NOTHING


def record(number: int, now: int, queued: int) -> RoundRecord:
    """Return the record of a round."""
    return RoundRecord(number, now, queued, 0, 0, 0, queued, (0,), (2,), 0, (0,), 0.0, None, None)


def test_parts_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job takes 2 s to be there, each decision 3 s, and 1 s passes otherwise.

    The first round comes after two jobs: 4 s of loading, 3 of a decision and 1 of something else.
    The second comes after the last, and the end of the trace, which takes 2 s to be found.
    """
    clock = Clock()
    monkeypatch.setattr(observers, "process_time", clock)
    monkeypatch.setattr(observers, "resident_memory", lambda: 5 * MB)

    def jobs() -> Iterator[TracedJob]:
        for k in (1, 2, 3):
            clock.seconds += 2
            yield traced(k, k, 1, 10)
        clock.seconds += 2

    usage = ProcessUsage(tmp_path)
    timed = usage.timed_dispatcher(Slow(clock))
    loaded = usage.timed_jobs(jobs())
    problem = make_problem(alike(1, core=1), "job_id submit_time units requested_time", now=0)
    for number, count in ((1, 2), (2, 9)):
        for _ in range(count):
            next(loaded, None)
        timed.dispatch(problem)
        clock.seconds += 1
        usage.round_ended(record(number, 10 * number, 3))
    usage.close()
    assert pq.read_table(tmp_path / "usage.parquet").to_pylist() == [
        {"round": 1, "now": 10, "queued": 3, "loading_time": 4, "dispatching_time": 3,
         "other_time": 1, "memory": 5 * MB},
        {"round": 2, "now": 20, "queued": 3, "loading_time": 4, "dispatching_time": 3,
         "other_time": 1, "memory": 5 * MB},
    ]  # fmt: skip


def test_a_run_is_the_same_with_it(tmp_path: Path) -> None:
    """There is a row a round, and nothing else of the run is another; the audit finds nothing."""
    few = ["trace.jobs=60"]
    plain = run(load_scenario(SCENARIO, few), tmp_path / "plain")
    seen = run(load_scenario(SCENARIO, [*few, "observers=[cpu-memory]"]), tmp_path / "seen")
    assert seen.summary == plain.summary
    assert audit_directory(seen.directory).ok
    table = pq.read_table(tmp_path / "seen" / "usage.parquet")
    assert table["round"].to_pylist() == seen.rounds["round"].to_pylist()
    assert table["queued"].to_pylist() == seen.rounds["queued"].to_pylist()
    times = [table[f"{part}_time"].to_numpy() for part in ("loading", "dispatching", "other")]
    assert all((part >= 0).all() and part.sum() > 0 for part in times)
    memory = resident_memory()
    if memory is not None:
        assert 0 < min(table["memory"].to_pylist()) <= 2 * memory
