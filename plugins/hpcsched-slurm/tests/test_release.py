"""The watchdog, without Slurm."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recorded import FOLDER

from hpcsched_slurm import release
from hpcsched_slurm.release import Waiting, look, stopped, waiting_jobs


def beat(path: Path, time: float) -> Path:
    """Write a heartbeat of that time, which allows for 60 seconds."""
    path.write_text(json.dumps({"time": time, "release_after": 60}))
    return path


def test_when_it_has_stopped(tmp_path: Path) -> None:
    """A heartbeat that is old, damaged or not there means that the driver has stopped."""
    path = tmp_path / "heartbeat.json"
    assert "no heartbeat" in stopped(path, 100, None)
    beat(path, 1000)
    assert stopped(path, 1060, None) == ""
    assert "61 s old" in stopped(path, 1061, None)
    assert "6 s old" in stopped(path, 1006, 5)
    path.write_text("{")
    assert "damaged" in stopped(path, 1000, None)


def test_which_jobs() -> None:
    """Only marked jobs of the partitions are released; tasks by their array."""
    output = (FOLDER / "jobs.json").read_text()
    found = waiting_jobs(output, ["main"], "hpcsched")
    assert {job.key for job in found} == {"2", "4", "6", "7_3", "8", "9"}
    assert all(job == Waiting(job.key, held=True, bound=False) for job in found)
    assert not waiting_jobs(output, ["other"], "hpcsched")
    assert not waiting_jobs(output, ["main"], "another")


def test_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the driver is at work nothing is called; afterwards each job is released by itself."""
    called: list[list[str]] = []

    def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        called.append(arguments)
        return subprocess.CompletedProcess(arguments, 0, (FOLDER / "jobs.json").read_text(), "")

    monkeypatch.setattr(release, "_run", run)
    path = beat(tmp_path / "heartbeat.json", 2.0**40)
    assert look(path, None, ["main"], "hpcsched")
    assert not called
    beat(path, 1000)
    assert look(path, None, ["main"], "hpcsched")
    assert ["scontrol", "release", "7_3"] in called
    assert len(called) == 7


def test_needs_nothing_of_hpcsched(tmp_path: Path) -> None:
    """The file alone is a program."""
    copy = tmp_path / "hpcsched-slurm-release"
    copy.write_text(Path(release.__file__).read_text())
    done = subprocess.run(
        [sys.executable, "-I", str(copy), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "--heartbeat" in done.stdout
