"""The monitor knows how far a replay has come, and changes nothing of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hpcsched
from hpcsched.dispatching.decision import SolverCall
from hpcsched.errors import InputError
from hpcsched.runs import monitor
from hpcsched.runs.assembly import assemble
from hpcsched.runs.monitor import share_done
from hpcsched.runs.run_status import RunState
from hpcsched.runs.runner import ReplayLoop
from hpcsched.simulation import event_loop
from hpcsched.workload.trace_source import TraceAccount
from tests.builders import lists
from tests.workload.readers.swf_files import record, write

SCENARIO = """\
name: followed
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: log.swf, jobs: 4}
dispatcher: list
"""


@pytest.fixture(name="states")
def _states(monkeypatch: pytest.MonkeyPatch) -> list[RunState]:
    """The states that runs write, one after each instant."""
    written: list[RunState] = []
    monkeypatch.setattr(monitor, "INTERVAL", 0.0)
    monkeypatch.setattr(monitor, "write_state", lambda _, state: written.append(state))
    # A part of the replay ends after each instant.
    monkeypatch.setattr(event_loop.EventLoop.__init__, "__defaults__", (0.0,))
    return written


def scenario(folder: Path, *lines: str, text: str = SCENARIO) -> hpcsched.Scenario:
    """Return a scenario over a log."""
    write(folder, list(lines))
    (folder / "scenario.yaml").write_text(text)
    return hpcsched.load_scenario(folder / "scenario.yaml")


@pytest.mark.parametrize("observers", ["[]", "[reasons]"])
def test_counts_and_what_is_in_use(tmp_path: Path, states: list[RunState], observers: str) -> None:
    """Two jobs of two and three of four cores, in compiled code and in Python."""
    text = f"{SCENARIO}observers: {observers}\n"
    given = scenario(tmp_path, record(1, 0, 100, 2), record(2, 10, 50, 3), text=text)
    hpcsched.run(given, tmp_path / "run")
    first, *_, last = states
    assert (first.phase, first.now, first.decision_time, first.progress) == (
        "preparing", None, None, 0,
    )  # fmt: skip
    assert (last.phase, last.rounds, last.progress) == ("summarizing", 3, 1.0)
    assert last.decision_time is not None and last.decision_time > 0
    seen = [
        (s.now, s.submitted, s.waiting, s.running, s.ended, s.resources["core"].used)
        for s in states
        if s.now is not None
    ]
    assert list(dict.fromkeys(seen)) == [
        (0, 1, 0, 1, 0, 2),
        (10, 2, 1, 1, 0, 2),
        (100, 2, 0, 1, 1, 3),
        (150, 2, 0, 0, 2, 0),
    ]
    assert {s.resources["core"].capacity for s in states} == {4}


def test_a_state_where_it_is_due(tmp_path: Path) -> None:
    """A short replay leaves the state of its end alone, and the run takes it away."""
    assembly = assemble(scenario(tmp_path, record(1, 0, 100, 2)), folder=tmp_path)
    loop = ReplayLoop(assembly, ())
    assert '"phase": "preparing"' in (tmp_path / "state.json").read_text()
    loop.run()
    assert '"phase": "preparing"' in (tmp_path / "state.json").read_text()
    loop.close()
    assert '"phase": "summarizing"' in (tmp_path / "state.json").read_text()


def test_calls_of_a_solver_are_counted_and_logged(
    tmp_path: Path, states: list[RunState], caplog: pytest.LogCaptureFixture
) -> None:
    """By status; a call without a plan is logged with its round and why."""

    class Calls:
        """Starts what comes first, with a call of a solver that it tells of."""

        def __init__(self) -> None:
            self._first = lists()
            self._left = ["failed", "optimal", "failed"]

        def dispatch(self, problem: Any) -> Any:
            """Dispatch, and tell of a call."""
            status = self._left.pop()
            call = SolverCall(status, 1, 1, None, None, 0.0, 0.0, 0.0, "it was\ntired")
            return self._first.dispatch(problem)._replace(solver=call)

    caplog.set_level("INFO", "hpcsched")
    lines = [record(n, 10 * n, 5, 1) for n in range(1, 4)]
    assembly = assemble(scenario(tmp_path, *lines), folder=tmp_path)
    assembly.dispatcher = Calls()
    loop = ReplayLoop(assembly, ())
    loop.run()
    loop.close()
    assert states[-1].solver == {"failed": 2, "optimal": 1}
    assert [message for message in caplog.messages if "solver" in message] == [
        f"round {number}: the solver had no plan: failed: it was tired" for number in (1, 3)
    ]


def test_a_state_that_cannot_be_written_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on; the warning is shown without --verbose."""

    def fail(*_: object) -> None:
        raise InputError([])

    monkeypatch.setattr(monitor, "write_state", fail)
    hpcsched.run(scenario(tmp_path, record(1, 0, 100, 2)), tmp_path / "run")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "`hpcsched status` shows an old state" in caplog.messages[0]


@pytest.mark.parametrize("observers", ["[]", "[reasons]"])
@pytest.mark.parametrize("limit", ["", ", jobs: 10", ", transforms: [{name: first, jobs: 10}]"])
def test_progress_of_a_log_that_is_read_first(
    observers: str, limit: str, tmp_path: Path, states: list[RunState]
) -> None:
    """Jobs follow one another: with each end a twentieth more is done, or a tenth of 10 jobs."""
    lines = (f"{n}|{100 * n}|{100 * n}|{100 * n + 50}|60|1|1\n" for n in range(1, 21))
    (tmp_path / "log").write_text(
        f"JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n{''.join(lines)}"
    )
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: sorted\n"
        "system: {groups: [{name: node, count: 1, resources: {core: 8}}]}\n"
        f"trace: {{source: slurm-sacct, path: log{limit}}}\n"
        f"dispatcher: easy\nobservers: {observers}\n"
    )
    hpcsched.run(path, tmp_path / "run")
    jobs = 10 if limit else 20
    assert (states[0].progress, states[-1].progress) == (0.0, 1.0)
    shares = [state.progress for state in states if state.phase == "replaying"]
    # At each submission, the job before it has ended.
    assert sorted({*shares} - {1.0}) == [n / jobs for n in range(jobs)]
    assert all(state.progress == state.ended / jobs for state in states)


@pytest.mark.parametrize(
    ("fraction", "read", "most_jobs", "ended", "share"),
    [
        (1.0, 8, None, 2, 0.25),
        (0.5, 8, None, 4, 0.25),  # a half of the log has 8 jobs, so that there are 16 in all
        (0.5, 8, 5, 4, 0.8),
        (1.0, 8, 100, 4, 0.5),
        (None, 0, 5, 1, 0.2),
        (None, 0, None, 4, None),
        (0.5, 0, None, 0, 0.0),
    ],
)
def test_share_done(
    fraction: float | None, read: int, most_jobs: int | None, ended: int, share: float | None
) -> None:
    """The share is of the jobs of the trace, or of the number of jobs in the scenario."""
    account = TraceAccount(read=read + 2)
    account.skipped["malformed"] += 2
    trace: Any = SimpleNamespace(fraction_read=fraction, account=account)
    assert share_done(trace, ended, most_jobs) == share
