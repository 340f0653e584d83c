"""Random failures of nodes: distributions of up times and repair times.

Times between failures follow a Weibull distribution, which is exponential for a shape of 1; repair
times are exponential. Failures of real systems are closer to a shape of 0.7 to 0.8: B. Schroeder
and G. A. Gibson, *A large-scale study of failures in high-performance computing systems*, IEEE
Transactions on Dependable and Secure Computing 7(4), 2010. Nodes fail independently of each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gamma
from random import Random

from hpcsched.portable_math import log, power
from hpcsched.system.outages import Outage


@dataclass(frozen=True, slots=True)
class FailureModel:
    """Failures of some nodes between two instants.

    Attributes
    ----------
    mean_up_time
        Mean seconds from the end of a repair to the next failure.
    mean_repair_time
        Mean seconds from a failure to the end of its repair.
    shape
        Shape of the Weibull distribution of up times.
    start, end
        First and last second of failures.
    """

    nodes: tuple[int, ...]
    mean_up_time: int
    mean_repair_time: int
    shape: float
    start: int
    end: int
    name: str = ""


def draw_failures(model: FailureModel, seed: int) -> Iterator[Outage]:
    """Yield the failures of each node, node by node; equal for a seed on every machine.

    Failures begin before `end`; a repair may end later. Each takes at least a second.
    """
    # In twelve digits, as the last one of a gamma function may differ between machines.
    scale = model.mean_up_time / float(f"{gamma(1 + 1 / model.shape):.12g}")
    for node in model.nodes:
        random = Random(f"{seed}/{node}")
        now = float(model.start)
        while True:
            now += scale * power(_exponential(random), 1 / model.shape)
            start = int(now)
            if start >= model.end:
                break
            now += model.mean_repair_time * _exponential(random)
            end = max(int(now), start + 1)
            yield Outage(start, end, (node,), "failure", model.name)
            now = float(max(end, int(now)))


def _exponential(random: Random) -> float:
    """Return an exponentially distributed number with mean 1; never 0."""
    return -log(1.0 - random.random()) or 2.0**-53
