"""What ran live is simulated again, and starts at about the same times."""

import re
import statistics
import time
from pathlib import Path

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import (
    check_all_ran,
    finish,
    journalled,
    live,
    round_trips,
    write_scenario,
)
from tests.real_slurm.workload import sleep_jobs

SECONDS = 60
BEFORE_JOBS = 30


def test_round_trip(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs that come one by one start within 2 seconds of when they do in a simulation."""
    scenario = write_scenario(slurm, tmp_path)
    out = tmp_path / "run"
    driver = live(slurm, scenario, "drive", "--for", str(BEFORE_JOBS + SECONDS), "--out", str(out))
    slurm.wait_until((scenario.parent / "live" / "heartbeat.json").exists)
    jobs = []
    for job in sleep_jobs(24, 5):
        jobs.append(slurm.submit(min(job.seconds, 10), *job.options))
        time.sleep(1.5)
    finish(driver)
    check_all_ran(slurm, scenario, jobs)
    replayed = ("--out", str(tmp_path / "replayed"))
    printed = finish(live(slurm, scenario, "replay", str(out), *replayed))
    assert "24 jobs, live and simulated" in printed
    median = re.search(r"median difference of start times\s+([\d.]+) s", printed)
    assert median is not None
    # On a busy machine the driver and Slurm are slower than the simulation takes them for.
    told, ran = journalled(scenario), slurm.jobs_by_key()
    delays = (max(0, ran[key]["start_time"] - told[key]["time"]) for key in jobs)
    slower = statistics.median(round_trips(scenario)) + statistics.median(delays)
    assert float(median[1]) <= 2 + slower, printed
