"""Jobs that sleep, made up from a seed: cores, memory, GPUs, some on two nodes."""

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
