"""Forecasts of 500 waiting jobs, published while a real Slurm goes on and is restarted.

`HPCSCHED_SLURM_MINUTES` is how long it lasts, an hour by default.
"""

import json
import os
import random
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import finish, hpcsched, live, write_scenario

WAITING = 500
HISTORY = 40
SECONDS = 60 * int(os.environ.get("HPCSCHED_SLURM_MINUTES", "60"))
EVERY, LOOK, DOWN = 60, 10, 90
"""Seconds from one forecast to the next, from one look to the next, and without slurmctld."""
LATE = 2 * EVERY
"""Age of a forecast, in seconds, that is too much while Slurm answers."""


class Look(NamedTuple):
    """What was published at an instant: the forecast, and how long it took to read."""

    at: float
    forecast: Mapping[str, Any]
    seconds: float

    @property
    def age(self) -> float:
        """Seconds since the instant of the forecast."""
        return self.at - float(self.forecast["time"])


def submit(slurm: SlurmCluster, chance: random.Random, shortest: int, longest: int) -> str:
    """Submit a job of eight cores to Slurm's own partition; nine of them run at a time."""
    seconds = chance.randint(shortest, longest)
    limit = f"--time={seconds // 60 + chance.choice([1, 5, 30])}"
    return slurm.submit(seconds, limit, "--cpus-per-task=8", "--mem=1000", partition="other")


def fetched(address: str, name: str) -> str:
    """Return what is served."""
    with urllib.request.urlopen(f"{address}/{name}", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


@contextmanager
def publishing(slurm: SlurmCluster, scenario: Path, folder: Path) -> Iterator[str]:
    """Have forecasts published into a folder and served, and give the address."""
    process = live(
        slurm, scenario, "forecast", "--set", "live.partitions=[other]",
        "--publish", str(folder / "forecast.json"), "--every", f"{EVERY}s",
        "--page", str(folder / "forecast.html"), "--prometheus", str(folder / "forecast.prom"),
        "--serve", "127.0.0.1:0",
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("serving ").strip()
        assert process.poll() is None
    finally:
        process.terminate()
        printed, _ = process.communicate(timeout=30)
    lines = printed.splitlines()
    assert lines, "no word of the time without slurmctld"
    assert all("no forecast this time: " in line for line in lines), printed


def agrees(address: str) -> bool:
    """Return whether metrics tell of as many jobs as the JSON, and the page of each of them.

    They need not while one forecast follows another.
    """
    jobs = json.loads(fetched(address, "forecast.json"))["jobs"]
    page, metrics = fetched(address, ""), fetched(address, "metrics")
    return f'hpcsched_waiting_jobs{{partition="other"}} {len(jobs):.1f}' in metrics and all(
        f">{one['job']}<" in page for one in jobs
    )


@pytest.mark.slow
def test_an_hour_of_forecasts(
    slurm: SlurmCluster, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """While Slurm answers, the latest forecast is young, whole and served; `when` reads it."""
    chance = random.Random(3)
    history = [submit(slurm, chance, 2, 20) for _ in range(HISTORY)]
    slurm.wait_until(
        lambda: all(slurm.jobs()[int(key)]["job_state"] == "COMPLETED" for key in history), 300
    )
    scenario = write_scenario(slurm, tmp_path)
    running = [submit(slurm, chance, 60, 600) for _ in range(WAITING + 9)]
    path, looks = tmp_path / "forecast.json", []
    with publishing(slurm, scenario, tmp_path) as address:
        slurm.wait_until(path.exists, LATE)
        begin, down = time.time(), 0.0
        while (now := time.time()) < begin + SECONDS:
            if not down and now > begin + SECONDS / 2:
                slurm.wait_until_saved(running[-1])
                slurm.kill_controller()
                time.sleep(DOWN)
                slurm.start_controller(clean=False)
                slurm.wait_until(lambda: "UP" in slurm.run("scontrol", "ping", check=False))
                down = time.time()
            text = fetched(address, "forecast.json")
            looks.append(Look(now, json.loads(text), time.time() - now))
            json.loads(path.read_text())
            waiting = slurm.run("squeue", "--noheader", "--states=PD").count("\n")
            for _ in range(WAITING - waiting):
                submit(slurm, chance, 60, 600)
            time.sleep(LOOK)
        latest = looks[-1].forecast
        slurm.wait_until(lambda: agrees(address), 10)
        job = max(latest["jobs"], key=lambda one: one["starts"][0])["job"]
        told = finish(hpcsched(slurm, "when", job, "--forecast", str(path)))
    assert told.startswith(f"{job}: between "), told
    young = [look for look in looks if not down - DOWN <= look.at <= down + LATE]
    assert max(look.age for look in young) <= LATE
    assert min(len(look.forecast["jobs"]) for look in looks) >= 0.9 * WAITING
    made = len({look.forecast["time"] for look in looks})
    version = ".".join(f"{part:02}" for part in slurm.version())
    record_property(
        "measured",
        f"Slurm {version}, {WAITING} waiting jobs, {SECONDS / 60:g} min: {made} forecasts;"
        f" age {median(look.age for look in young):.0f} s (median),"
        f" {max(look.age for look in looks):.0f} s (maximum, slurmctld down for {DOWN} s);"
        f" served in {median(look.seconds for look in looks):.2f} s",
    )
