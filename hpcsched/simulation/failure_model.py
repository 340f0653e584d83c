"""Failures of nodes drawn from a model: how long a node is up, and how long its repair takes.

Times between failures are drawn from a Weibull distribution, of which the exponential is the one
with shape 1; repair times from an exponential one. Failures of real systems are told to be nearer
to a shape of 0.7 to 0.8: B. Schroeder and G. A. Gibson, *A large-scale study of failures in
high-performance computing systems*, IEEE Transactions on Dependable and Secure Computing 7(4),
2010. Nodes fail independently of each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gamma
from random import Random

from hpcsched.system.outages import Outage
from hpcsched.workload.synthetic.portable import log, power


@dataclass(frozen=True, slots=True)
class FailureModel:
    """How the nodes of some numbers fail between `start` and `end`, all in seconds.

    `mean_up_time` is the mean from the end of a repair to the next failure, `mean_repair_time` that
    from a failure to the end of its repair; `shape` is the Weibull distribution's.
    """

    nodes: tuple[int, ...]
    mean_up_time: int
    mean_repair_time: int
    shape: float
    start: int
    end: int
    name: str = ""


def draw_failures(model: FailureModel, seed: int) -> Iterator[Outage]:
    """Yield the failures of each node, node by node; the same for a seed on every machine.

    None begins at `end` or later, but a repair may take longer. Each takes at least a second.
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
    """Return an exponentially distributed number with a mean of 1; never 0."""
    return -log(1.0 - random.random()) or 2.0**-53
