"""Jobs that sleep, made up from a seed: cores, memory, GPUs, some on two nodes, arrays."""

import random
from typing import NamedTuple


class SleepJob(NamedTuple):
    """A job: how long it sleeps, in seconds, and what `sbatch` is told."""

    seconds: int
    options: tuple[str, ...]


def sleep_jobs(count: int, seed: int = 1) -> list[SleepJob]:
    """Return jobs of 2 to 20 seconds, a fifth with GPUs, a tenth on two nodes."""
    chance = random.Random(seed)
    jobs = []
    for _ in range(count):
        seconds = chance.randint(2, 20)
        options = [f"--time={1 if seconds < 15 else 2}"]
        kind = chance.random()
        if kind < 0.2:
            options += [
                f"--gres=gpu:{chance.choice([1, 1, 2, 4])}",
                f"--cpus-per-task={chance.choice([1, 2, 4])}",
                f"--mem={chance.choice([4000, 16000, 32000])}",
            ]
        elif kind < 0.3:
            options += ["--nodes=2", f"--ntasks-per-node={chance.choice([2, 4, 8])}", "--mem=2000"]
        else:
            options += [
                f"--cpus-per-task={chance.choice([1, 2, 4, 8, 16])}",
                f"--mem={chance.choice([1000, 4000, 16000, 60000])}",
            ]
        jobs.append(SleepJob(seconds, tuple(options)))
    return jobs


class SleepArray(NamedTuple):
    """An array: its tasks, the limit of those that run at a time (0: none), and each task."""

    tasks: int
    limit: int
    task: SleepJob


def short_jobs(count: int, seed: int) -> list[SleepJob]:
    """Return jobs as `sleep_jobs` does, of 1 to 4 seconds; every other GPU is of a type."""
    jobs = []
    for k, job in enumerate(sleep_jobs(count, seed)):
        type_ = ("", "2080ti:", "", "a100:")[k % 4]
        options = (option.replace("gpu:", f"gpu:{type_}") for option in job.options)
        jobs.append(SleepJob(1 + job.seconds % 4, tuple(options)))
    return jobs


def short_arrays() -> list[SleepArray]:
    """Return arrays of 60 tasks in all, two of them with a limit, one of these with GPUs."""
    small = ("--time=1", "--mem=1000")
    gpu = (*small, "--gres=gpu:2080ti:1")
    return [
        SleepArray(20, 0, SleepJob(2, (*small, "--cpus-per-task=2"))),
        SleepArray(10, 0, SleepJob(1, (*small, "--gres=gpu:1"))),
        SleepArray(15, 4, SleepJob(2, (*small, "--cpus-per-task=4"))),
        SleepArray(15, 3, SleepJob(1, gpu)),
    ]
