"""Allocators on made-up days of Eurora: mean bounded slowdown under `keep-scarce` to `first-fit`.

Not a measurement of speed: the figures are the same on every machine.
"""

from collections import Counter
from pathlib import Path
from statistics import median

from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord

SCENARIO = Path(__file__).parents[1] / "scenarios" / "eurora-day-easy.yaml"
LOADS = (1, 2)
JOBS = range(850, 951)
TAU = 10
ALIKE = 0.001
DAY = 86400


class BoundedSlowdown(Observer):
    """Adds up the bounded slowdown of the jobs that end."""

    def __init__(self) -> None:
        self.total = 0.0

    def job_ended(self, record: JobRecord) -> None:
        """Add a job's."""
        assert record.start_time is not None
        assert record.end_time is not None
        response_time = record.end_time - record.job.submit_time
        self.total += max(1.0, response_time / max(record.end_time - record.start_time, TAU))


def days() -> list[int]:
    """Return the days of the workload that have so many jobs, by number."""
    whole = load_scenario(SCENARIO, ["trace.start=0", "trace.duration=null", "trace.load=1.0"])
    counts = Counter(traced.job.submit_time // DAY for traced in assemble(whole).source.jobs())
    return sorted(day for day, count in counts.items() if count in JOBS)


def total_bounded_slowdown(day: int, load: int, allocator: str) -> float:
    """Replay a day and return the sum of its jobs' bounded slowdowns."""
    chosen = [f"trace.start={day}d", f"trace.load={load}", f"dispatcher.allocator={allocator}"]
    assembly = assemble(load_scenario(SCENARIO, chosen))
    observer = BoundedSlowdown()
    simulate(parts_of(assembly, [observer]), assembly.source.jobs())
    return observer.total


def main() -> None:
    """Print a row for each load."""
    found = days()
    print(f"{len(found)} days of {JOBS[0]} to {JOBS[-1]} jobs; keep-scarce / first-fit")
    print("load  better  same  worse  median  least  most")
    for load in LOADS:
        ratios = [
            total_bounded_slowdown(day, load, "keep-scarce")
            / total_bounded_slowdown(day, load, "first-fit")
            for day in found
        ]
        better = sum(ratio < 1 - ALIKE for ratio in ratios)
        worse = sum(ratio > 1 + ALIKE for ratio in ratios)
        spread = f"{median(ratios):6.3f}  {min(ratios):5.3f}  {max(ratios):5.3f}"
        print(f"{load:4}  {better:6}  {len(ratios) - better - worse:4}  {worse:5}  {spread}")


if __name__ == "__main__":
    main()
