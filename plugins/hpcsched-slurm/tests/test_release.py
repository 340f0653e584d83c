"""The watchdog, without Slurm."""

import json
import subprocess
import sys
import time
from math import inf, nan
from pathlib import Path

import pytest

from hpcsched.scenario.live import LONGEST_RELEASE
from hpcsched_slurm import release
from hpcsched_slurm.release import Waiting, look, stopped, waiting_jobs
from recorded import FOLDER


def beat(path: Path, at: float, release_after: float = 60) -> Path:
    """Write a heartbeat of that time, which allows for 60 seconds."""
    path.write_text(json.dumps({"time": at, "release_after": release_after}))
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


@pytest.mark.parametrize(
    ("at", "release_after", "why"),
    [
        (1006, 60, "6 s in the future"),
        (2.0**40, 60, "in the future"),
        (nan, 60, "its time is nan"),
        (inf, 60, "its time is inf"),
        (-inf, 60, "its time is -inf"),
        pytest.param(10**400, 60, "damaged: OverflowError", id="huge-time"),
        (1000, nan, "found nan"),
        (1000, inf, "found inf"),
        pytest.param(1000, 10**400, "damaged: OverflowError", id="huge-release"),
        (1000, 86_401, "up to 86400 s, found 86401"),
        (1000, 0, "above 0"),
        (1000, -1, "above 0"),
        (1000, None, "damaged: TypeError"),
    ],
)
def test_a_heartbeat_that_proves_nothing(
    tmp_path: Path, at: float, release_after: float, why: str
) -> None:
    """A time that has not come, or what is no number, does not keep jobs waiting for ever."""
    assert why in stopped(beat(tmp_path / "heartbeat.json", at, release_after), 1000, None)


def test_clocks_may_differ_a_little(tmp_path: Path) -> None:
    """A driver on a machine whose clock is up to 5 seconds ahead is at work."""
    assert stopped(beat(tmp_path / "heartbeat.json", 1005), 1000, None) == ""


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0", "86401", "soon"])
@pytest.mark.parametrize("option", ["--after", "--every"])
def test_seconds_that_make_no_sense_are_refused(
    capsys: pytest.CaptureFixture[str], option: str, text: str
) -> None:
    """The message says which option, what was expected, and what was found."""
    with pytest.raises(SystemExit) as refused:
        release.main(["--heartbeat", "none.json", "--partition", "main", f"{option}={text}"])
    assert refused.value.code == 2
    message = capsys.readouterr().err
    assert option in message
    assert f"expected seconds above 0 and up to 86400, found '{text}'" in message


def test_the_longest_is_that_of_the_scenario() -> None:
    """The watchdog, which needs nothing of hpcsched, allows for what a scenario may ask for."""
    assert release.LONGEST == LONGEST_RELEASE


def test_which_jobs() -> None:
    """Only marked jobs of the partitions are released; tasks by their array."""
    output = (FOLDER / "jobs.json").read_text()
    found = waiting_jobs(output, ["main"], "hpcsched")
    assert {job.key for job in found} == {"2", "4", "6", "7_3", "8", "9"}
    assert all(job == Waiting(job.key, held=True, bound=False) for job in found)
    assert not waiting_jobs(output, ["other"], "hpcsched")
    assert not waiting_jobs(output, ["main"], "another")


def test_which_jobs_in_later_versions() -> None:
    """Numbers are objects and states are lists; an infinite priority is no hold."""

    def number(value: int | None, *, infinite: bool = False) -> dict[str, object]:
        return {"set": value is not None, "infinite": infinite, "number": value or 0}

    def job(key: int, state: list[str], priority: dict[str, object]) -> dict[str, object]:
        return {
            "job_id": key,
            "job_state": state,
            "admin_comment": "hpcsched",
            "partition": "main",
            "array_job_id": number(0),
            "array_task_id": number(None),
            "priority": priority,
            "required_nodes": "",
        }

    jobs = [
        job(1, ["PENDING"], number(0)),
        job(2, ["PENDING", "REQUEUED"], number(0, infinite=True)),
        job(3, ["RUNNING"], number(0)),
        job(4, ["PENDING"], number(0)) | {"array_job_id": number(4), "array_task_id": number(2)},
    ]
    assert waiting_jobs(json.dumps({"jobs": jobs}), ["main"], "hpcsched") == [
        Waiting("1", held=True, bound=False),
        Waiting("2", held=False, bound=False),
        Waiting("4_2", held=True, bound=False),
    ]


def test_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the driver is at work nothing is called; afterwards each job is released by itself."""
    called: list[list[str]] = []

    def run(arguments: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        called.append(arguments)
        return subprocess.CompletedProcess(arguments, 0, (FOLDER / "jobs.json").read_text(), "")

    monkeypatch.setattr(release.subprocess, "run", run)
    path = beat(tmp_path / "heartbeat.json", time.time())
    assert look(path, None, ["main"], "hpcsched")
    assert not called
    beat(path, 1000)
    assert look(path, None, ["main"], "hpcsched")
    assert ["scontrol", "release", "7_3"] in called
    assert len(called) == 7


def test_no_answer_of_slurm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty list beside an error is not taken for no waiting job; that none waits is told."""
    content = json.loads((FOLDER / "jobs.json").read_text()) | {"jobs": []}
    answer, script = tmp_path / "answer", tmp_path / "squeue"
    script.write_text(f"#!/bin/sh\ncat {answer}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    answer.write_text(json.dumps(content | {"errors": [{"error": "Unspecified error"}]}))
    command = ["--now", "--partition=main"]
    assert release.main(command) == 1
    assert "Unspecified error'}]; check with `scontrol ping`" in capsys.readouterr().err
    answer.write_text(json.dumps(content))
    assert release.main(command) == 0
    assert capsys.readouterr().out == "0 jobs released to Slurm: it was asked for\n"


def test_needs_nothing_of_hpcsched(tmp_path: Path) -> None:
    """The file alone is a program."""
    copy = tmp_path / "hpcsched-slurm-release"
    copy.write_text(Path(release.__file__).read_text())
    done = subprocess.run(
        [sys.executable, "-I", str(copy), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "--heartbeat" in done.stdout
