"""Begin and end of a run directory, whatever loop fills it."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hpcsched.cli import main
from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.manifest import ON_A_CLUSTER, sha256
from hpcsched.runs.observers import EventLog
from hpcsched.runs.recorder import RunRecorder
from hpcsched.runs.runner import LoopEnd, Run
from hpcsched.runs.runner import run as run_scenario
from hpcsched.runs.summary import Remaining
from hpcsched.scenario import load_scenario
from hpcsched.simulation.records import RoundRecord
from hpcsched.studies.cell import Cell
from hpcsched.studies.execution import run_cells
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import read_experiment
from hpcsched.workload.readers.swf import SwfLines
from hpcsched.workload.trace_source import TraceAccount
from tests.slow_runs import COMMAND, seen_under_way, slow_predictor
from tests.studies.experiment_samples import HereAndNow, read_sample, write_sample

SMALL = "scenarios/small-easy.yaml"


class Loop:
    """A loop of no rounds that does as it is told, and leaves three jobs waiting."""

    def __init__(self, assembly: Assembly, error: BaseException | None = None) -> None:
        self._recorder = RunRecorder(assembly.folder, assembly.system)
        self._error = error
        self.complete = True
        self.account = TraceAccount()
        self.account.read = self.account.submitted = 3

    def run(self) -> None:
        """Raise the error, if there is one."""
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Leave the jobs."""
        self.complete = False

    def close(self) -> None:
        """Write empty tables."""
        self._recorder.close()

    @property
    def end(self) -> LoopEnd:
        """Three jobs wait."""
        return LoopEnd(Remaining(3, 0), self.account, ["a header"], ["a test"], {})

    def more_figures(self, summary: Mapping[str, Any], /, *, complete: bool) -> dict[str, Any]:
        """Return what it was called with."""
        return {"more": [summary["metrics"]["makespan"], complete]}


class Signalled(Loop):
    """A loop that meets an interrupt."""

    def __init__(self, assembly: Assembly, number: signal.Signals) -> None:
        super().__init__(assembly)
        self._number = number

    def run(self) -> None:
        """Send a signal to this process, which is handled before the next line."""
        os.kill(os.getpid(), self._number)


def begun(folder: Path, *overrides: str) -> Assembly:
    """Return a small scenario in a folder."""
    return assemble(load_scenario(SMALL, overrides), folder=folder)


def content(folder: Path, name: str) -> dict[str, Any]:
    """Return a JSON file of a run directory."""
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def test_a_complete_run(tmp_path: Path) -> None:
    """The manifest says that it runs, then that it is complete; the rest comes from the loop."""
    assembly = begun(tmp_path)
    with Run(assembly, not_reproducible_because=["it is a test"]) as run:
        assert content(tmp_path, "manifest.json")["status"] == "running"
        directory = run.carry_out(Loop(assembly))
    assert directory.manifest.status == "complete"
    assert directory.manifest.not_reproducible_because == ["it is a test"]
    assert directory.manifest.trace_comments == ["a header"]
    assert directory.manifest.in_python == ["a test"]
    assert directory.manifest.plugins.keys() == {"hpcsched"}
    assert directory.summary["more"] == [None, True]
    assert "waiting" not in directory.summary["jobs"]


def test_a_failed_run(tmp_path: Path) -> None:
    """The error is raised; the directory says what was left, and is free again."""
    assembly = begun(tmp_path)
    with pytest.raises(KeyError), Run(assembly) as run:
        run.carry_out(Loop(assembly, KeyError("x")))
    directory = RunDirectory.open(tmp_path)
    assert directory.manifest.status == "failed"
    assert directory.manifest.error == "KeyError: 'x'"
    assert directory.summary["jobs"]["waiting"] == 3
    assert directory.summary["more"] == [None, False]
    create(tmp_path, force=True).release()


FLAWED = "1 0 -1 9 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 0 -1 x\n"


def test_a_run_that_failed_by_its_input_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever corrects the log gives the same call again; a complete run stays."""
    log, out = tmp_path / "log.swf", tmp_path / "run"
    scenario = {
        "name": "x",
        "system": {"groups": [{"name": "n", "count": 2, "resources": {"core": 1}}]},
        "trace": {"source": "swf", "path": str(log)},
        "dispatcher": "easy",
    }
    log.write_text(FLAWED)
    with pytest.raises(InputError, match="fields"):
        run_scenario(scenario, out)
    assert not caplog.messages
    log.write_text(FLAWED.splitlines()[0] + "\n")
    assert run_scenario(scenario, out).summary["jobs"]["submitted"] == 1
    expected = f"{out}: replacing the run in it, which failed"
    assert caplog.messages == [expected]
    with pytest.raises(InputError, match="not empty; --force or force=True replaces the run in it"):
        run_scenario(scenario, out)


@pytest.mark.parametrize(
    ("error", "because", "kept"),
    [
        (InputError(Finding("x", "a flaw")), [], False),
        # The cluster does not do its part again.
        (InputError(Finding("x", "a flaw")), [ON_A_CLUSTER], True),
        (KeyError("x"), [], False),
        (KeyboardInterrupt(), [], True),
    ],
)
def test_failed_runs_that_are_replaced(
    error: BaseException, because: list[str], kept: bool, tmp_path: Path
) -> None:
    """Without force, rounds are lost only where an error ended the replay."""

    class OneRound(Loop):
        def close(self) -> None:
            record = RoundRecord(
                1, 0, 0, 0, 0, 0, 0, (0,) * 3, (0,) * 3, 0, (0,) * 3, 0.5, False, None
            )
            self._recorder.round_ended(record)
            super().close()

    assembly = begun(tmp_path)
    with pytest.raises(type(error)), Run(assembly, not_reproducible_because=because) as run:
        run.carry_out(OneRound(assembly, error))
    if kept:
        with pytest.raises(InputError, match="it is not empty"):
            create(tmp_path)
    else:
        create(tmp_path).release()


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyError("x"), "failed", "failed before it had results: KeyError: 'x'"),
        (PluginError("no solver"), "failed", "failed before it had results: no solver"),
        (KeyboardInterrupt(), "interrupted", "was interrupted before it had results"),
    ],
)
def test_a_run_that_ends_before_its_loop(
    error: BaseException, status: str, said: str, tmp_path: Path
) -> None:
    """The manifest says that the run failed or was interrupted, when, and by which error."""
    with pytest.raises(type(error)), Run(begun(tmp_path)):
        raise error
    manifest = content(tmp_path, "manifest.json")
    assert manifest["status"] == status
    assert manifest["finished"] >= manifest["started"]
    assert list(manifest["files"]) == ["scenario.yaml"]
    with pytest.raises(InputError) as refused:
        RunDirectory.open(tmp_path)
    expected = f"{tmp_path}: error: the run of {manifest['started']} {said} [no-results]"
    assert str(refused.value) == expected
    create(tmp_path, force=True).release()


def test_a_run_whose_directory_cannot_be_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest was written before the scenario could not be: the run failed."""

    def full(_: object) -> str:
        raise OSError("no space left")

    monkeypatch.setattr("hpcsched.runs.runner.resolved_yaml", full)
    with pytest.raises(OSError, match="no space left"):
        Run(begun(tmp_path))
    assert content(tmp_path, "manifest.json")["status"] == "failed"
    create(tmp_path, force=True).release()


def test_a_run_whose_summary_cannot_be_finished(tmp_path: Path) -> None:
    """An error after the loop is raised, and the status says that the run failed."""

    class Unfinished(Loop):
        def more_figures(self, summary: Mapping[str, Any], /, *, complete: bool) -> dict[str, Any]:
            raise ValueError(f"complete: {complete}")

    assembly = begun(tmp_path)
    with pytest.raises(ValueError, match="complete: True"), Run(assembly) as run:
        run.carry_out(Unfinished(assembly))
    manifest = content(tmp_path, "manifest.json")
    assert (manifest["status"], manifest["error"]) == ("failed", "ValueError: complete: True")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_stops_the_loop(tmp_path: Path, number: signal.Signals) -> None:
    """It ends by itself, is called interrupted, and the handler of before is back."""
    # Whoever runs the tests may let their process ignore SIGHUP, as `nohup` does.
    mine = signal.signal(number, signal.default_int_handler)
    try:
        assembly = begun(tmp_path)
        with Run(assembly) as run:
            directory = run.carry_out(Signalled(assembly, number))
        assert directory.manifest.status == "interrupted"
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, mine)


def test_nohup_is_respected(tmp_path: Path) -> None:
    """A process that is to ignore SIGHUP goes on to the end."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assembly = begun(tmp_path)
        with Run(assembly) as run:
            directory = run.carry_out(Signalled(assembly, signal.SIGHUP))
    finally:
        signal.signal(signal.SIGHUP, before)
    assert directory.manifest.status == "complete"


def test_what_cannot_begin_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An observer that cannot be built is an error, after which another run can begin."""

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(EventLog, "__init__", fail)
    with pytest.raises(Exception, match="no room"):
        Run(begun(tmp_path, "observers=[event-log]"))
    create(tmp_path).release()


SCENARIO = """\
name: interrupted
system: {groups: [{name: node, count: 10, resources: {core: 4}}]}
trace: {source: swf, path: long.swf}
predictor: slow
dispatcher: {name: list, option: backfill}
observers: [event-log, reasons]
"""
JOBS = 20_000
"""Jobs of a run of ten seconds at least, see `SECONDS_EACH`."""
PATIENCE = 120


def test_a_killed_run_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command does without `--force`, and says what it replaces."""
    (tmp_path / "long.swf").write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    text = SCENARIO.replace("predictor: slow\n", "")
    (tmp_path / "scenario.yaml").write_text(text)
    out = tmp_path / "out"
    command = ["run", str(tmp_path / "scenario.yaml"), "--out", str(out)]
    assert main(command) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    # As it was until the process was killed, in the middle of a table.
    (out / "manifest.json").write_text(json.dumps({**manifest, "status": "running", "files": {}}))
    (out / "jobs.parquet").write_bytes(b"PAR1")
    assert main(command) == 0
    assert f"{out}: replacing the run in it, which was killed" in capsys.readouterr().err
    assert main(["verify", str(out)]) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_can_be_read_and_verified(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The exit code is 130, the account balances, and `verify` finds nothing wrong."""
    lines = (
        f"{n} {n * 40} -1 {60 + n * 37 % 900} {1 + n % 7} -1 -1 {1 + n % 7} 2000"
        " -1 1 1 1 1 1 1 -1 -1\n"
        for n in range(1, JOBS + 1)
    )
    (tmp_path / "long.swf").write_text("".join(lines))
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    out = tmp_path / "out"
    command = [*COMMAND, "run", str(tmp_path / "scenario.yaml"), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        seen_under_way(out, process, PATIENCE)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1] == f"interrupted; what was done until then is in {out}"
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    jobs = json.loads((out / "summary.json").read_text())["jobs"]
    assert 0 < jobs["completed"] < JOBS
    states = ("completed", "killed", "rejected", "waiting", "running")
    assert jobs["submitted"] == sum(jobs[state] for state in states)
    skipped = sum(jobs["skipped"].values())
    assert jobs["read"] == jobs["submitted"] + jobs["not_yet_submitted"] + skipped
    with slow_predictor():
        assert main(["verify", str(out)]) == 0


MORE = "13 900 -1 30 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.mark.parametrize("gone", [False, True])
def test_during_a_run(
    gone: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The run is complete; its manifest says that its trace is another by now."""
    write_sample(tmp_path)
    log, read = tmp_path / "log.swf", SwfLines.blocks
    before = log.read_text()

    def changing(self: SwfLines) -> object:
        yield from read(self)  # a header is not read to the end
        log.unlink() if gone else log.write_text(before + MORE)

    monkeypatch.setattr(SwfLines, "blocks", changing)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "base.yaml"), "--out", str(out)]) == 0
    manifest = RunDirectory.open(out).manifest
    assert manifest.status == "complete"
    assert [file.changed for file in manifest.trace_files] == [True]
    assert not manifest.reproducible
    assert manifest.not_reproducible_because == [f"{log} changed while the run went on"]


def test_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace that is written again with what it held has not changed."""
    write_sample(tmp_path)
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "base.yaml"), "--out", str(out)]) == 0
    assert "changed" not in capsys.readouterr().err
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["trace_files"][0]["changed"] is False
    assert manifest["reproducible"] is True


def test_between_cells(tmp_path: Path) -> None:
    """Cells that would read other data fail and say so; started again, all read the new data."""
    experiment, out = read_sample(tmp_path), tmp_path / "out"
    log, folder = tmp_path / "log.swf", ExperimentFolder(out)
    begun: list[str] = []

    def started(cell: Cell) -> None:
        begun.append(cell.name)
        if len(begun) == 3:
            log.write_text(log.read_text() + MORE)

    with folder.locked():
        found = list(run_cells(experiment.cells, folder, HereAndNow(), started=started))
    assert [outcome.status for outcome in found] == ["done", "done", "failed", "failed"]
    assert f"{log} has changed since the experiment was started" in found[2].message
    there = [folder.run_of(cell) is not None for cell in experiment.cells]
    # Cells with the same jobs run one after another.
    assert there == [True, False, True, False]
    again = read_experiment(tmp_path / "tiny.yaml")
    assert {cell.files[0].sha256 for cell in again.cells} == {sha256(log)}
    with folder.locked():
        found = list(run_cells(again.cells, folder, HereAndNow()))
    assert [outcome.status for outcome in found] == ["done"] * 4
