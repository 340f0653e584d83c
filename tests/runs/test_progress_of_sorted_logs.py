"""Progress of runs whose source reads the whole log before its first job."""

from pathlib import Path

import pytest

import hpcsched
import hpcsched.runs.runner
from hpcsched.runs import watching
from hpcsched.runs.run_status import RunState, state_line
from hpcsched.simulation import event_loop
from tests.runs.both_loops import FORCED

SACCT = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n" + "".join(
    f"{n}|{100 * n}|{100 * n}|{100 * n + 50}|60|1|1\n" for n in range(1, 21)
)


class States:
    """A view that keeps every state, in place of the state file."""

    kept: list[RunState]
    interval = 0.0

    def __init__(self, _folder: Path) -> None:
        States.kept = []

    def show(self, state: RunState) -> None:
        """Keep the state."""
        States.kept.append(state)

    def close(self) -> None:
        """Do nothing more."""


@pytest.mark.parametrize("event_by_event", [False, True])
@pytest.mark.parametrize("limit", ["", ", jobs: 10", ", transforms: [{name: first, jobs: 10}]"])
def test_progress(
    event_by_event: bool, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs follow one another: with each end a twentieth more is done, or a tenth of 10 jobs."""
    monkeypatch.setattr(watching, "StateFile", States)
    # A part of the replay ends after each instant.
    monkeypatch.setattr(event_loop.EventLoop.__init__, "__defaults__", (0.0,))
    if event_by_event:
        monkeypatch.setattr(hpcsched.runs.runner, "_in_python", lambda *_: [FORCED])
    (tmp_path / "log").write_text(SACCT)
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: sorted\n"
        "system: {groups: [{name: node, count: 1, resources: {core: 8}}]}\n"
        f"trace: {{source: slurm-sacct, path: log{limit}}}\n"
        "dispatcher: easy\n"
    )
    hpcsched.run(path, tmp_path / "run")
    jobs = 10 if limit else 20
    shares = [(state.phase, state.progress) for state in States.kept]
    assert shares[0] == ("preparing", 0.0)
    assert shares[-1] == ("summarizing", 1.0)
    replayed = [share for phase, share in shares if phase == "replaying"]
    # At each submission, the job before it has ended.
    assert sorted(set(replayed) - {1.0}) == [n / jobs for n in range(jobs)]
    assert replayed == sorted(replayed)
    half = next(state for state in States.kept if state.progress == 0.5)
    assert "; 50.0%; at day 0" in state_line(half)
    assert all(state.progress == state.ended / jobs for state in States.kept)
