"""Workloads in which much waits at once, drawn from a seed.

Hypothesis looks for small workloads; these are larger, with few distinct sizes and times, so that
several jobs pass a head job, reservations abut, and orders have ties to break.
"""

from collections.abc import Iterator
from random import Random

from hpcsched.system.system import NodeGroup, System
from tests.builders import traced
from tests.strategies import Uniform

REQUEST = (2, 1)


def contended(seed: int, count: int, jobs: int = 14, exact: bool = False) -> Iterator[Uniform]:
    """Yield workloads of equal unit requests; predictions are exact or wrong in both directions."""
    rng = Random(seed)
    for _ in range(count):
        per_node = [1] * rng.randint(4, 10) if rng.random() < 0.5 else rng.choices(range(4), k=5)
        slots = sum(per_node)
        if slots:
            yield _workload(rng, per_node, jobs, exact)


def _workload(rng: Random, per_node: list[int], jobs: int, exact: bool) -> Uniform:
    slots = sum(per_node)
    groups = [
        NodeGroup(f"n{node}", 1, {"core": 2 * held + rng.randint(0, 1), "mem": held + 1})
        for node, held in enumerate(per_node)
    ]
    submitted, predictions, submit_time = [], {}, 0
    for number in rng.sample(range(jobs), jobs):
        submit_time += rng.choice([0, 0, 0, 0, 1, 2])
        run_time = rng.choice([1, 2, 2, 3, 4, 4, 6, 8] if exact else [0, 1, 2, 2, 4, 4, 6, 8])
        units = min(rng.choice([1, 1, 2, 2, 3, 4, 6, slots]), slots)
        predictions[number] = run_time if exact else rng.choice([1, 2, 4, 6, max(run_time, 1)])
        submitted.append(traced(number, submit_time, units, run_time, REQUEST))
    return Uniform(System(tuple(groups)), tuple(submitted), predictions, REQUEST, slots)
