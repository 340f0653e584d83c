"""Driving a real Slurm, also when parts of it, or the driver itself, are killed in the midst."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hpcsched.system.cluster import ClusterState, RefusedError
from tests.real_slurm.cluster import NOBODY, PLUGIN, SlurmCluster, plugin_module
from tests.real_slurm.driving import (
    check_all_ran,
    environment,
    finish,
    journalled,
    live,
    write_scenario,
)
from tests.real_slurm.workload import sleep_jobs

UNTIL_IDLE = ("drive", "--until-idle")


def submit(slurm: SlurmCluster, count: int, seed: int) -> list[str]:
    """Submit jobs of all kinds, and return their numbers."""
    return [slurm.submit(min(job.seconds, 8), *job.options) for job in sleep_jobs(count, seed)]


def wait_for_starts(scenario: Path, count: int) -> None:
    """Wait until the driver has written down that it starts so many jobs."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if len(journalled(scenario)) >= count:
                return
        except FileNotFoundError:
            pass
        time.sleep(0.2)
    raise AssertionError("the driver did not come to start jobs")


@pytest.mark.parametrize("dispatcher", ["easy", pytest.param("joint-now", marks=pytest.mark.slow)])
def test_drives(slurm: SlurmCluster, tmp_path: Path, dispatcher: str) -> None:
    """All jobs run to their ends, on the nodes decided and not before."""
    jobs = submit(slurm, 16, 1)
    scenario = write_scenario(slurm, tmp_path, dispatcher)
    finish(live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run")))
    check_all_ran(slurm, scenario, jobs)


def test_killed_driver(slurm: SlurmCluster, tmp_path: Path) -> None:
    """A driver that is killed in the midst of its work goes on where it was, started again."""
    jobs = submit(slurm, 30, 2)
    scenario = write_scenario(slurm, tmp_path)
    for attempt in range(3):
        process = live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / f"run-{attempt}"))
        wait_for_starts(scenario, 2 + 6 * attempt)
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    finish(live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run")))
    check_all_ran(slurm, scenario, jobs)


def test_one_driver_at_a_time(slurm: SlurmCluster, tmp_path: Path) -> None:
    """A second driver is refused while one is at work."""
    # However long it takes until the second looks, the first is at work.
    job = slurm.submit(600, "--mem=1000", "--time=15")
    scenario = write_scenario(slurm, tmp_path)
    first = live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run"))
    wait_for_starts(scenario, 1)
    second = live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "second"))
    printed, _ = second.communicate(timeout=60)
    assert second.returncode == 1
    assert "another driver is at work" in printed
    slurm.wait_until(lambda: slurm.jobs()[int(job)]["job_state"] == "RUNNING")
    assert slurm.jobs()[int(job)]["nodes"] == journalled(scenario)[job]["nodes"][0]
    slurm.run("scancel", job)
    finish(first)


def test_restarted_controller(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Nothing is lost where slurmctld is killed and comes back."""
    # None ends before slurmctld is killed, which would forget such an end and run the job again.
    jobs = [slurm.submit(20, *job.options) for job in sleep_jobs(16, 3)]
    slurm.wait_until_saved(jobs[-1])
    scenario = write_scenario(slurm, tmp_path)
    process = live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run"))
    wait_for_starts(scenario, 4)
    slurm.kill_controller()
    time.sleep(3)
    slurm.start_controller(clean=False)
    finish(process)
    check_all_ran(slurm, scenario, jobs)


def test_rest_gone_for_a_while(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Nothing is lost where slurmrestd is away for 20 seconds."""
    jobs = submit(slurm, 20, 4)
    scenario = write_scenario(slurm, tmp_path)
    process = live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run"))
    wait_for_starts(scenario, 4)
    slurm.kill_rest()
    time.sleep(20)
    slurm.start_rest()
    assert "can be read again" in finish(process)
    check_all_ran(slurm, scenario, jobs)


def test_changed_between_reading_and_acting(slurm: SlurmCluster) -> None:
    """A job that is gone, or runs already, by then is refused, and nothing else happens."""
    make_slurm = plugin_module("manager").make_slurm
    rest = {"rest": f"unix:{slurm.socket}", "token_file": str(slurm.token_file), "user": "root"}
    manager = make_slurm(plugin_module("params").SlurmParams(**rest))
    cancelled, changed = (slurm.submit(5, "--mem=1000", "--time=1") for _ in range(2))
    released = slurm.submit(600, "--mem=1000", "--time=15")
    state: ClusterState = manager.read()
    seen = {job.key: job for job in state.jobs}
    slurm.run("scancel", cancelled)
    slurm.run("scontrol", "release", released)
    slurm.run("scontrol", "update", f"JobId={changed}", "NumCPUs=8")
    slurm.wait_until(lambda: slurm.jobs()[int(released)]["job_state"] == "RUNNING")
    for key in (cancelled, released):
        with pytest.raises(RefusedError):
            manager.start(seen[key], ["c2"])
    manager.start(seen[changed], ["c2"])
    slurm.wait_until(lambda: slurm.jobs()[int(changed)]["job_state"] == "COMPLETED")
    job = slurm.jobs()[int(changed)]
    assert (job["nodes"], job["cpus"]) == ("c2", 8)
    assert slurm.jobs()[int(released)]["job_state"] == "RUNNING"


def test_users_cannot_release(slurm: SlurmCluster) -> None:
    """The hook refuses releases and nodes by users, and holds of their own."""
    job = slurm.submit(1, "--mem=1000", "--time=1", f"--uid={NOBODY}")
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    try:
        for change in (["release", job], ["update", f"JobId={job}", "ReqNodeList=c1"]):
            done = subprocess.run(
                [*as_nobody, "scontrol", *change],
                env=slurm.environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode != 0, change
            # Not every command shows what the hook says; all name the job that it is about.
            assert f"job {job}" in done.stderr or "hpcsched decides" in done.stderr
        assert slurm.jobs()[int(job)]["job_state"] == "PENDING"
        assert slurm.jobs()[int(job)]["required_nodes"] == ""
    finally:
        slurm.run("scancel", job)
    with pytest.raises(AssertionError, match="submit without --hold"):
        slurm.submit(1, "--hold")


def test_watchdog(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs wait while there are heartbeats; once they stop, Slurm's own scheduler starts them."""
    scenario = write_scenario(slurm, tmp_path)
    heartbeat = tmp_path / "live" / "heartbeat.json"
    keeper = slurm.submit(6, "--mem=1000", "--time=1")
    process = live(slurm, scenario, "drive", "--out", str(tmp_path / "run"))
    wait_for_starts(scenario, 1)
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    job = slurm.submit(1, "--mem=1000", "--time=1")
    watchdog = [
        sys.executable, str(PLUGIN / "hpcsched_slurm" / "release.py"),
        f"--heartbeat={heartbeat}", "--partition=main",
    ]  # fmt: skip
    subprocess.run([*watchdog, "--after=60"], env=environment(slurm), check=True)
    assert slurm.jobs()[int(job)]["priority"] == 0
    time.sleep(3)
    subprocess.run([*watchdog, "--after=2"], env=environment(slurm), check=True)
    slurm.wait_until(lambda: slurm.jobs()[int(job)]["job_state"] == "COMPLETED")
    slurm.wait_until(lambda: slurm.jobs()[int(keeper)]["job_state"] == "COMPLETED")


def test_killed_node(slurm: SlurmCluster, tmp_path: Path) -> None:
    """The jobs of a node that fails are taken back, and run again."""
    jobs = [slurm.submit(45, "--cpus-per-task=16", "--mem=1000", "--time=2") for _ in range(3)]
    scenario = write_scenario(slurm, tmp_path)
    setting = ("--set", "live.placement_timeout=5")
    process = live(slurm, scenario, *UNTIL_IDLE, *setting, "--out", str(tmp_path / "run"))
    wait_for_starts(scenario, 3)
    slurm.wait_until(lambda: all(slurm.jobs()[int(j)]["job_state"] == "RUNNING" for j in jobs))
    slurm.kill_node("c2")
    slurm.wait_until(lambda: any(slurm.jobs()[int(j)]["restart_cnt"] for j in jobs), 90)
    slurm.start_node("c2")
    printed = finish(process, 400)
    assert "is taken back" in printed
    slurm.wait_until(lambda: {slurm.jobs()[int(job)]["job_state"] for job in jobs} == {"COMPLETED"})
