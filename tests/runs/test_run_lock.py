"""The lock on a run directory: one run at a time, and none that a dead process keeps."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.folder_lock import LOCK

SCENARIO = """\
name: locked
system: {groups: [{name: n, count: 2, resources: {core: 1}}]}
trace: {source: swf, path: t.swf}
dispatcher: easy
"""
HOLD = (
    "import sys, time; from pathlib import Path\n"
    "from hpcsched.runs.directory import create\n"
    "lock = create(Path(sys.argv[1]), force=True)\n"
    "print('held', flush=True); time.sleep(60)\n"
)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario with one job."""
    (tmp_path / "t.swf").write_text("1 0 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n")
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    return path


@contextmanager
def holding(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Have another process hold a run directory, until it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_run_that_goes_on_is_left_alone(
    force: list[str], scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another run into its directory is refused, and told which process writes there."""
    out = tmp_path / "out"
    with holding(out) as process:
        (out / "jobs.parquet").write_text("half a file")
        (out / "manifest.json").write_text('{"versions": {"hpcsched": "1"}}')
        assert main(["run", str(scenario), "--out", str(out), *force]) == 1
        said = capsys.readouterr().err
        assert f"{out}: error: another run is being written there, by process {process.pid} on" in (
            said
        )
        assert " since 20" in said
        assert "[in-use]" in said
        assert (out / "jobs.parquet").read_text() == "half a file"


def test_a_killed_run_is_replaced(scenario: Path, tmp_path: Path) -> None:
    """The lock of a process that was killed is free, though its file is there."""
    out = tmp_path / "out"
    with holding(out):
        pass
    assert (out / LOCK).exists()
    assert main(["run", str(scenario), "--out", str(out)]) == 0
    assert not (out / LOCK).exists()
    assert RunDirectory.open(out).manifest.status == "complete"


def test_a_run_that_failed_frees_its_directory(tmp_path: Path, scenario: Path) -> None:
    """A damaged trace ends a run; the next one may replace what it left."""
    good = (tmp_path / "t.swf").read_text()
    (tmp_path / "t.swf").write_text(good + "2 nonsense\n")
    out = tmp_path / "out"
    assert main(["run", str(scenario), "--out", str(out)]) == 1
    assert not (out / LOCK).exists()
    (tmp_path / "t.swf").write_text(good)
    assert main(["run", str(scenario), "--out", str(out), "--force"]) == 0


def test_two_in_one_process(tmp_path: Path) -> None:
    """Threads of one process exclude each other too, and a refusal changes nothing."""
    with create(tmp_path / "out"):
        with pytest.raises(InputError, match=f"process {os.getpid()} on .* since"):
            create(tmp_path / "out", force=True)
        with pytest.raises(InputError, match="in-use"):
            create(tmp_path / "out")
    create(tmp_path / "out").release()
