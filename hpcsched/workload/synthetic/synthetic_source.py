"""Trace source with jobs from a generator."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from hpcsched.errors import Finding, InputError
from hpcsched.portable_math import exp, log, power
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount


class SyntheticSource:
    """Stream of the jobs of a generator, without those that do not fit on the idle system.

    Parameters
    ----------
    count
        Number of generated jobs; None if unknown.
    uniform_request
        Unit request of every job; None if they differ.
    """

    files: Sequence[Path] = ()

    def __init__(
        self,
        generate: Callable[[], Iterator[TracedJob]],
        system: System,
        *,
        comments: Sequence[str] = (),
        count: int | None = None,
        uniform_request: tuple[int, ...] | None = None,
    ) -> None:
        self.account = TraceAccount()
        self.comments = comments
        self.uniform_request = uniform_request
        self._generate = generate
        self._system = system
        self._count = count

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the jobs that have been generated, from 0 to 1; None if unknown."""
        return self.account.read / self._count if self._count else None

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs by ascending submit time, the same ones at each call."""
        account = TraceAccount()
        self.account = account
        for traced in self._generate():
            account.read += 1
            # Restrictions of placement are left aside, as in the log that a workload mimics.
            if traced.job.units > room_for(self._system, traced.job.unit_request):
                account.skipped["larger_than_system"] += 1
                continue
            account.submitted += 1
            yield traced


def checked_request(system: System, amounts: Mapping[str, int], whose: str) -> tuple[int, ...]:
    """Return a unit request in the system's units."""
    lacking = [name for name in amounts if name not in system.resource_types]
    if lacking:
        raise InputError(
            Finding(
                "unknown-resource-type",
                f"{whose} asks for {', '.join(lacking)}, which no node group has; there are:"
                f" {', '.join(system.resource_types)}",
                key="trace",
            )
        )
    return system.request(amounts)


T = TypeVar("T")


class Draws:
    """Seeded stream of random numbers; repeatable if the draws are made in a fixed order."""

    def __init__(self, seed: int) -> None:
        self.uniform = Random(seed).random
        """Draws a number from [0, 1)."""
        self._spare_normal: float | None = None

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to `count` − 1."""
        return int(self.uniform() * count)

    def between(self, low: float, high: float) -> float:
        """Draw a number from [low, high)."""
        return low + (high - low) * self.uniform()

    def chance(self, probability: float) -> bool:
        """Draw an event of this probability, from 0 to 1."""
        return self.uniform() < probability

    def exponential(self, mean: float) -> float:
        """Draw an exponential number with this mean."""
        # 1 - u is in (0, 1], so that the logarithm is defined for u = 0.
        return -mean * log(1 - self.uniform())

    def normal(self) -> float:
        """Draw a standard normal number (Marsaglia's polar method)."""
        if self._spare_normal is not None:
            # The polar method yields two numbers; the second is kept for the next call.
            spare, self._spare_normal = self._spare_normal, None
            return spare
        while True:
            x, y = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            square = x * x + y * y
            if 0 < square < 1:
                scale = math.sqrt(-2 * log(square) / square)
                self._spare_normal = y * scale
                return x * scale

    def log_normal(self, median: float, spread: float) -> float:
        """Draw a log-normal number."""
        return median * exp(spread * self.normal())

    def gamma(self, shape: float, scale: float) -> float:
        """Draw a gamma number of mean shape × scale.

        Parameters
        ----------
        shape
            Shape, above 0.
        scale
            Scale, above 0.

        Notes
        -----
        Method of Marsaglia and Tsang, 2000.
        """
        if shape < 1:
            return self.gamma(shape + 1, scale) * power(1 - self.uniform(), 1 / shape)
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            edge = 1 + c * x
            v = edge * edge * edge if edge > 0 else 0.0
            if v > 0 and log(1 - self.uniform()) < 0.5 * x * x + d - d * v + d * log(v):
                return d * v * scale


class Weighted(Generic[T]):
    """Distribution over items in proportion to their weights."""

    def __init__(self, items: Sequence[T], weights: Sequence[float]) -> None:
        # A weight of 0 is allowed: kinds whose quota is used up stay in place and are never drawn.
        if not items or len(items) != len(weights) or min(weights) < 0 or not any(weights):
            raise ValueError("expected a weight for each item, none negative, not all zero")
        self.items = items
        self._upto = list(accumulate(weights))

    def draw(self, draws: Draws) -> T:
        """Draw an item."""
        return self.items[bisect_right(self._upto, draws.uniform() * self._upto[-1])]
