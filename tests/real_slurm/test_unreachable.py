"""Slurm by its commands while slurmctld is down, is stopped, and comes back."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import check_all_ran, finish, live, write_scenario

CHECK = "; check with `scontrol ping` that slurmctld runs, and that "
TIMEOUT = 8
"""Seconds after which a call is given up."""


def _by_commands(slurm: SlurmCluster, config: Path | None = None) -> tuple[str, str]:
    """Return the option that has Slurm's commands used, with a short time limit."""
    name = slurm.config if config is None else config
    return "--set", f"live.workload_manager={{name: slurm, config: {name}, timeout: {TIMEOUT}}}"


@contextmanager
def _stopped(slurm: SlurmCluster) -> Iterator[Callable[[], None]]:
    """Have slurmctld accept calls and answer none, until the function is called or the end."""
    process = int((slurm.folder / "state" / "ctld.pid").read_text())
    os.kill(process, signal.SIGSTOP)
    try:
        yield lambda: os.kill(process, signal.SIGCONT)
    finally:
        os.kill(process, signal.SIGCONT)


def _failed(process: subprocess.Popen[str], seconds: float) -> str:
    """Return the one line that a command prints which fails within a time."""
    printed, _ = process.communicate(timeout=seconds)
    assert process.returncode == 1, printed
    (line,) = printed.splitlines()
    return line


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_advice_ends_with_one_sentence(slurm: SlurmCluster, tmp_path: Path) -> None:
    """It says which call had no answer, for how long it waited, and what to check."""
    scenario, out = write_scenario(slurm, tmp_path), ("--out", str(tmp_path / "run"))

    def advise(config: Path | None = None) -> str:
        return _failed(live(slurm, scenario, "advise", *_by_commands(slurm, config), *out), 30)

    assert f"found no file {tmp_path}/none [no-config]" in advise(tmp_path / "none")
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("nonsense\n")
    wrong.chmod(0o644)
    assert f"{CHECK}{wrong} is its configuration" in advise(wrong)
    down = slurm.config.with_name("down.conf")
    lines = (
        "SlurmctldPort=19" if line.startswith("SlurmctldPort=") else line
        for line in slurm.config.read_text().splitlines()
    )
    down.write_text("".join(f"{line}\n" for line in lines))
    said = advise(down)
    assert said.startswith("error: squeue --json --states=all: ")
    assert f"{CHECK}{down} is its configuration" in said
    with _stopped(slurm):
        said = advise()
    why = f"error: squeue --json --states=all: no answer within {TIMEOUT} s"
    assert said.startswith(f"{why}{CHECK}{slurm.config} is")


def test_advice_without_a_job(slurm: SlurmCluster, tmp_path: Path) -> None:
    """It ends all the same."""
    scenario = write_scenario(slurm, tmp_path)
    process = live(slurm, scenario, "advise", *_by_commands(slurm), "--out", str(tmp_path / "run"))
    assert "no job waits" in finish(process, 30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_waiting_driver_ends_at_once(
    slurm: SlurmCluster, tmp_path: Path, number: signal.Signals
) -> None:
    """It waits for a slurmctld that does not answer, says so, and heeds signals in the call."""
    scenario, out = write_scenario(slurm, tmp_path), ("--out", str(tmp_path / "run"))
    for later in (False, True):
        with _stopped(slurm) as go_on:
            if later:
                go_on()
            process = live(slurm, scenario, "drive", *_by_commands(slurm), *out, "--force")
            if later:
                while "no job waits" not in _first_line(process):
                    assert process.poll() is None
                os.kill(int((slurm.folder / "state" / "ctld.pid").read_text()), signal.SIGSTOP)
            said = _first_line(process)
            assert said.startswith("the cluster cannot be read, and is tried again until it can: ")
            time.sleep(2)  # into the next call
            began = time.monotonic()
            process.send_signal(number)
            process.communicate(timeout=60)
            # Shorter than the call; a busy machine needs some of it to write the run directory.
            assert time.monotonic() - began < TIMEOUT - 3


def test_a_driver_goes_on_when_slurm_is_back(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs that were submitted before are placed, and run once."""
    jobs = [slurm.submit(2, "--mem=500", "--time=1") for _ in range(4)]
    scenario, out = write_scenario(slurm, tmp_path), ("--out", str(tmp_path / "run"))
    slurm.wait_until_saved(jobs[0])
    slurm.kill_controller()
    try:
        process = live(slurm, scenario, "drive", *_by_commands(slurm), *out, "--until-idle")
        said = _first_line(process)
    finally:
        slurm.start_controller(clean=False)
    assert "the cluster cannot be read, and is tried again until it can: squeue" in said
    assert "the cluster can be read again" in finish(process, 120)
    check_all_ran(slurm, scenario, jobs)
