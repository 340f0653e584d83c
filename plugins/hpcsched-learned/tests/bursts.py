"""A machine of one core, and bursts of short and long jobs: the order decides."""

import random
from pathlib import Path

from hpcsched import Scenario, load_scenario

SCENARIO = """\
name: bursts
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: jobs.swf}
predictor: requested-time
dispatcher: {name: list, order: {name: policy, window: 16}, option: strict}
objective: bounded_slowdown
"""
BURST = 12
"""Jobs that are submitted in one second; they are done before the next burst."""


def bursts(folder: Path, count: int = 20, *overrides: str) -> Scenario:
    """Write a log of bursts, in each of which jobs of 10 s and of 1000 s come in random order."""
    draw = random.Random(0)
    lines = []
    for burst in range(count):
        times = [10] * (BURST // 2) + [1000] * (BURST // 2)
        draw.shuffle(times)
        for k, time in enumerate(times, start=burst * BURST + 1):
            job = f"{k} {burst * 10_000} -1 {time} 1 -1 -1 1 {time}"
            lines.append(f"{job} -1 1 1 1 1 1 1 -1 -1\n")
    (folder / "jobs.swf").write_text("".join(lines))
    (folder / "bursts.yaml").write_text(SCENARIO)
    return load_scenario(folder / "bursts.yaml", overrides)
