"""Runs things in turn and reports medians with their spread, so that a noisy machine shows."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time


@dataclass
class Samples:
    """Measured seconds of wall clock and processor, and the peak memory in MiB where known."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)


def run_processes(
    commands: Mapping[str, Sequence[str]], runs: int, *, warm_up: int = 1
) -> dict[str, Samples]:
    """Run each command as a process of its own, in turn, after `warm_up` runs that do not count."""
    samples = {name: Samples() for name in commands}
    # Python keeps the byte code of modules. Where it may not, each process compiles all modules
    # that it imports, which on KTH-SP2 is a quarter of its time.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(warm_up + runs):
        for name, command in commands.items():
            began = perf_counter()
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            wall = perf_counter() - began
            if process.returncode:
                sys.exit(f"{name} failed: {' '.join(command)}")
            if turn >= warm_up:
                samples[name].wall.append(wall)
                samples[name].cpu.append(usage.ru_utime + usage.ru_stime)
                samples[name].peak_mib.append(usage.ru_maxrss / 1024)
    return samples


def run_functions(functions: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Samples]:
    """Call each function in turn, after one call that does not count."""
    samples = {name: Samples() for name in functions}
    for turn in range(runs + 1):
        for name, function in functions.items():
            wall, cpu = perf_counter(), process_time()
            function()
            if turn:
                samples[name].wall.append(perf_counter() - wall)
                samples[name].cpu.append(process_time() - cpu)
    return samples


def report(title: str, samples: Mapping[str, Samples], against: str, jobs: int) -> None:
    """Print a row for each name: median (least to most), and the ratio to `against` by turn."""
    print(f"\n{title}")
    width = max(map(len, samples))
    base = samples[against]
    for name, sample in samples.items():
        ratios = [a / b for a, b in zip(sample.cpu, base.cpu, strict=True)]
        memory = f"  {median(sample.peak_mib):6.0f} MiB" if sample.peak_mib else ""
        print(
            f"  {name:{width}}  wall {_spread(sample.wall)}  cpu {_spread(sample.cpu)} s"
            f"  {median(ratios):5.2f} times {against} ({min(ratios):.2f}-{max(ratios):.2f})"
            f"  {jobs / median(sample.cpu):9,.0f} jobs/s{memory}"
        )


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):7.3f} ({min(values):.3f}-{max(values):.3f})"
