"""Running cells: what is kept, what is run, what a failure leaves, and the index."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.cli import run_commands as command_module
from hpcsched.errors import HpcschedError, InputError, PluginError
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import Plugin
from hpcsched.studies.execution import (
    IndexWriter,
    Outcome,
    build_executor,
    run_cells,
    run_experiment,
    run_in_folder,
)
from hpcsched.studies.executors.executor import Task
from hpcsched.studies.experiment_folder import ExperimentFolder, read_index
from hpcsched.studies.study_files import Experiment, read_experiment
from tests.solver_plugins import hopeless_solver
from tests.studies.experiment_samples import (
    EXPERIMENT,
    HereAndNow,
    expected_summaries,
    read_sample,
    run_cells_here,
    summaries,
    write_sample,
)


def outcomes(
    experiment: Experiment, out: Path, executor: HereAndNow | None = None, *, again: bool = False
) -> list[Outcome]:
    """Run all cells of an experiment as the command does."""
    folder = ExperimentFolder(out)
    with folder.locked():
        index = IndexWriter(experiment, folder, experiment.cells)
        found = []
        try:
            running = run_cells(experiment.cells, folder, executor or HereAndNow(), again=again)
            for outcome in running:
                index.note(outcome)
                found.append(outcome)
        finally:
            index.write()
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of an experiment, which is made when it is run."""
    return tmp_path / "out"


def test_cells_are_run_and_then_kept(tmp_path: Path, out: Path) -> None:
    """The second time nothing is run; with `again` everything is."""
    experiment = read_sample(tmp_path)
    assert [outcome.status for outcome in outcomes(experiment, out)] == ["done"] * 4
    assert summaries(experiment, out) == expected_summaries(experiment, tmp_path)
    executor = HereAndNow()
    assert [o.status for o in outcomes(experiment, out, executor)] == ["kept"] * 4
    assert executor.names == []
    assert [o.status for o in outcomes(experiment, out, executor, again=True)] == ["done"] * 4
    assert len(executor.names) == 4
    assert not (out / "unfinished").exists()


def test_only_what_is_new_is_run(tmp_path: Path, out: Path) -> None:
    """A new value on an axis adds cells, and the others stay as they are."""
    outcomes(read_sample(tmp_path), out)
    more = read_sample(tmp_path, EXPERIMENT.replace("[5, 9]", "[5, 9, 12]"))
    statuses = {outcome.cell.name: outcome.status for outcome in outcomes(more, out)}
    assert [name for name, status in statuses.items() if status == "done"] == ["none_12", "sjf_12"]


def test_a_half_written_run_is_not_taken(tmp_path: Path, out: Path) -> None:
    """A run without all of its files, or of another scenario, is run anew."""
    experiment = read_sample(tmp_path)
    outcomes(experiment, out)
    first, second, third, _ = (out / "runs" / cell.address for cell in experiment.cells)
    (first / "summary.json").unlink()
    manifest = json.loads((second / "manifest.json").read_text())
    (second / "manifest.json").write_text(json.dumps(manifest | {"status": "interrupted"}))
    (third / "scenario.yaml").write_text("name: another\n")
    statuses = {outcome.cell.name: outcome.status for outcome in outcomes(experiment, out)}
    assert statuses == {"none_5": "done", "none_9": "done", "sjf_5": "done", "sjf_9": "kept"}
    assert summaries(experiment, out) == expected_summaries(experiment, tmp_path)


def test_a_failed_cell_does_not_stop_the_others(tmp_path: Path, out: Path) -> None:
    """Its message is in the outcome and in the index, its log is kept until it is run well."""
    text = EXPERIMENT.replace("trace.jobs: [5, 9]", "trace.path: [log.swf, bad.swf]")
    (tmp_path / "bad.swf").write_text("1 2 3\n")
    experiment = read_sample(tmp_path, text)
    found = {outcome.cell.name: outcome for outcome in outcomes(experiment, out)}
    statuses = [found[cell.name].status for cell in experiment.cells]
    assert statuses == ["done", "failed", "done", "failed"]
    message = found["none_bad"].message
    log = out / "logs" / f"{found['none_bad'].cell.address}.log"
    assert "bad.swf:1" in message
    assert message.endswith(f"(see {log})")
    assert log.read_text() == "said something\n"
    index = read_index(out)
    assert [cell.status for cell in index.cells] == ["complete", "failed", "complete", "failed"]
    assert index.cells[1].message == message
    assert (out / str(index.cells[1].log)) == log
    assert index.axes == {"dispatcher": ["none", "sjf"], "trace.path": ["log", "bad"]}
    assert all((out / cell.run / "summary.json").is_file() for cell in index.cells[::2])


def test_cells_of_one_scenario_are_run_once(tmp_path: Path, out: Path) -> None:
    """Cells that only their labels tell apart have names of their own, so each has its run."""
    text = EXPERIMENT.replace("[reject, {name: list, order: sjf}]", "[reject, {name: reject}]")
    experiment = read_sample(tmp_path, text)
    executor = HereAndNow()
    assert [o.status for o in outcomes(experiment, out, executor)] == ["done"] * 4
    assert len(set(executor.names)) == 4


def test_an_interrupt_stops_and_leaves_no_lie(tmp_path: Path, out: Path) -> None:
    """What is complete stays, what was running is waiting, and the executor has been closed."""
    experiment = read_sample(tmp_path)

    def interrupt(task: Task) -> None:
        if task.name == experiment.cells[1].address:
            raise KeyboardInterrupt

    executor = HereAndNow(interrupt)
    with pytest.raises(KeyboardInterrupt):
        outcomes(experiment, out, executor)
    assert executor.closed
    statuses = [cell.status for cell in read_index(out).cells]
    assert statuses == ["complete", "waiting", "complete", "waiting"]  # cells of one trace first
    assert not (out / "unfinished").exists()
    assert [o.status for o in outcomes(experiment, out)] == ["kept", "kept", "done", "done"]


def test_one_at_a_time(tmp_path: Path, out: Path) -> None:
    """A folder that is being worked on is refused, and is free again afterwards."""
    folder, other = ExperimentFolder(out), ExperimentFolder(out)
    with folder.locked(), pytest.raises(InputError, match=r"worked on by process \d+ on .*in-use"):
        other.locked().__enter__()
    with other.locked():
        assert (out / "unfinished").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="it cannot be written"):
        ExperimentFolder(tmp_path / "file").locked().__enter__()


def test_what_a_killed_process_left_is_cleared(out: Path) -> None:
    """Attempts of an earlier process go when the folder is taken again."""
    (out / "unfinished" / "abc").mkdir(parents=True)
    with ExperimentFolder(out).locked():
        assert list((out / "unfinished").iterdir()) == []


def test_an_index_that_cannot_be_read(tmp_path: Path) -> None:
    """It is missing, of another format, or damaged."""
    for content, message in (
        (None, "it has no experiment.json"),
        ('{"format": 0}', "it has format 0; this version of hpcsched reads format 1"),
        ('{"format": 1, "experiment": "x", "axes": {}, "cells": 1}', "it is damaged: cells"),
    ):
        if content is not None:
            (tmp_path / "experiment.json").write_text(content)
        with pytest.raises(InputError, match=message):
            read_index(tmp_path)


def test_a_run_that_lies_is_a_failure(tmp_path: Path, out: Path) -> None:
    """An executor that says all is well, and has no run to show, is not believed."""

    class Empty(HereAndNow):
        def run(self, tasks, limit, started) -> Iterator[object]:  # type: ignore[override, no-untyped-def]
            for ended in super().run(tasks, limit, started):
                (ended.attempt / "run" / "jobs.parquet").unlink()  # type: ignore[operator]
                yield ended

    (first, *_) = outcomes(read_sample(tmp_path), out, Empty())
    assert first.status == "failed"
    assert first.message.startswith("it ended well, and left no complete run of its scenario")


def test_a_broken_executor_is_named(tmp_path: Path) -> None:
    """A factory that fails, or returns something else, is the plugin's fault."""
    experiment = read_experiment(write_sample(tmp_path))
    choice = experiment.executor
    for factory, message in (
        (lambda *_: 1 / 0, "cannot be built: raised ZeroDivisionError"),
        (lambda *_: 5, "expected its factory to return an object with 'run', found int"),
    ):
        registry = Registry()
        registry.add(Installed("executor", Plugin("local", "x", factory), "mine", "1"))
        with pytest.raises(PluginError, match=rf"^executor local \(mine 1\): {message}"):
            build_executor(choice, registry, tmp_path)


def test_each_outcome_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as it is known; complete cells are kept."""
    run_cells_here(monkeypatch)
    read = read_experiment(write_sample(tmp_path))
    folder = ExperimentFolder(tmp_path / "out")
    found: list[Outcome] = []
    for _ in range(2):
        assert run_in_folder(read, read.cells[:1], folder, 1, ended=found.append) == 0
    assert [outcome.status for outcome in found] == ["done", "kept"]


def test_a_folder_that_is_in_use(tmp_path: Path) -> None:
    """One process at a time works on an experiment."""
    file = write_sample(tmp_path)
    folder = ExperimentFolder(tmp_path / "out")
    with folder.locked(), pytest.raises(HpcschedError):
        run_experiment(file, folder.path)


MATRIX = EXPERIMENT.replace(
    "[reject, {name: list, order: sjf}]", "[easy, {name: cp, solver: hopeless, guard: null}]"
).replace("[none, sjf]", "[easy, hopeless]")


def test_an_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are named with their numbers, or counted where they are many; then comes what to do."""
    with hopeless_solver():
        sample = read_sample(tmp_path, MATRIX.replace("[5, 9]", "[9, 12]"))
        folder = ExperimentFolder(tmp_path / "out")
        with folder.locked():
            list(run_cells(sample.cells, folder, HereAndNow()))
        told = {}
        for cell in sample.cells:
            run = folder.run_of(cell)
            assert run is not None
            n = run.summary["rounds"]["asked_solver"]
            told[cell.name] = f"{n} of {n} rounds with a solver had no plan: failed {n}"
            assert (n > 0) == cell.name.startswith("hopeless")
        command = ["experiment", str(tmp_path / "tiny.yaml"), "--out", str(folder.path)]
        assert main(command) == 0
        *_, first, second, last = capsys.readouterr().err.splitlines()
        assert first == f"warning: hopeless_9: {told['hopeless_9']}"
        assert second == f"warning: hopeless_12: {told['hopeless_12']}"
        assert last == (
            "warning: 2 of 4 cells: above 10 % figures tell of the fallback rather than of the"
            " solver: check that the solver works"
        )
        monkeypatch.setattr(command_module, "MOST_NAMED", 1)
        assert main(command) == 0
        *_, first, second = capsys.readouterr().err.splitlines()
        assert first == f"warning: hopeless_9: {told['hopeless_9']}"
        assert second.startswith("warning: 2 of 4 cells: ")
        assert main([*command, "--list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("complete  ")
        assert lines[0].endswith("easy_9 (seed 7)")
        assert main([*command, "--only", "easy"]) == 0
        assert "warning" not in capsys.readouterr().err


def run_shards(experiment: Path, out: Path, of: int) -> None:
    """Run all parts of an experiment, one after another."""
    for number in range(1, of + 1):
        result = run_experiment(experiment, out, shard=f"{number}/{of}")
        assert result.folder == out / "shards" / f"{number}-of-{of}"


@pytest.mark.parametrize("of", [2, 3])
def test_shards_give_what_the_whole_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: int
) -> None:
    """Their runs are taken over, none is run again, and figures and index are the same bytes."""
    run_cells_here(monkeypatch)
    file = write_sample(tmp_path)
    read = read_experiment(file)
    whole = ExperimentFolder(tmp_path / "whole")
    run_experiment(file, whole.path)
    parts = ExperimentFolder(tmp_path / "parts")
    run_shards(file, parts.path, of)
    assert parts.run_of(read.cells[0]) is None
    found: list[Outcome] = []
    run_in_folder(read, read.cells, parts, ended=found.append)
    assert [outcome.status for outcome in found] == ["kept"] * 4
    for cell in read.cells:
        for name in ("summary.json", "jobs.parquet", "scenario.yaml"):
            expected = (whole.place(cell) / name).read_bytes()
            assert (parts.place(cell) / name).read_bytes() == expected
    assert parts.index.read_bytes() == whole.index.read_bytes()


def test_shards_that_are_none(tmp_path: Path) -> None:
    """More parts than cells, a part beyond the last, and what is no part at all."""
    file = write_sample(tmp_path)
    for given, message in (
        ("3/2", "expected K/N, the K-th of N parts"),
        ("0/2", "found '0/2'"),
        ("two", "found 'two'"),
        ("1/5", "expected at most a part for each of the 4 cells, found 5 parts"),
    ):
        with pytest.raises(InputError, match=message):
            run_experiment(file, tmp_path / "out", shard=given)


def test_a_shard_that_is_still_worked_on(tmp_path: Path) -> None:
    """Its runs are left to it, and the user is told which folder it is."""
    file = write_sample(tmp_path)
    folder = ExperimentFolder(tmp_path / "out")
    with folder.shard(1, 2).locked(), pytest.raises(InputError, match=r"1-of-2.*worked on by"):
        run_experiment(file, folder.path)


def test_outcomes_since_the_index(tmp_path: Path, out: Path) -> None:
    """A killed process leaves lines of what had ended, the last maybe half written."""
    experiment = read_sample(tmp_path)
    folder = ExperimentFolder(out)
    with folder.locked():
        index = IndexWriter(experiment, folder, experiment.cells)
        for outcome in run_cells(experiment.cells[:2], folder, HereAndNow()):
            index.note(outcome)
    first, *_ = experiment.cells
    with folder.outcomes.open("a") as file:
        file.write(f'["{first.address}", "failed", "no room"]\n["{first.address[:9]}')
    found = read_index(out).cells
    assert [cell.status for cell in found] == ["failed", "complete", "waiting", "waiting"]
    assert (found[0].message, found[0].log) == ("no room", f"logs/{first.address}.log")
    outcomes(experiment, out)
    assert not folder.outcomes.exists()
    assert [cell.status for cell in read_index(out).cells] == ["complete"] * 4
    folder.outcomes.write_text("nothing\n")
    with pytest.raises(InputError, match=r"outcomes\.jsonl: error: it is damaged"):
        read_index(out)
