"""The slot weight method: a clock that runs fast in slots of the day when many jobs are submitted.

A day has 48 slots of half an hour. Each has a weight, and time passes by paying: to get from one
submission to the next, so many points are paid, slot after slot, and a slot's weight is what it
costs to pass all of it. Where weights are one on average, a point is half an hour on average.

Source: Lublin and Feitelson, *The Workload on Parallel Supercomputers*, 2003, on arrivals. They
draw points independently of each other; jobs then come in proportion to the weights.
"""

from collections.abc import Callable

SLOT = 1800
"""Seconds in a slot."""
SLOTS = 48
"""Slots in a day."""


class SlotWalk:
    """Goes from submission to submission, beginning `paid` points into the slot numbered `slot`.

    Slots are numbered on from day to day. `weight` is asked for the weight of each slot as it is
    entered, in order; some weight must not be zero, or a walk never ends.
    """

    def __init__(self, weight: Callable[[int], float], slot: int = 0, share: float = 0.0) -> None:
        self._weight = weight
        self.slot = slot
        """The slot of the last submission."""
        self._price = weight(slot)
        self._paid = share * self._price

    @property
    def share(self) -> float:
        """How much of the slot has passed, from 0 to 1."""
        return self._paid / self._price if self._price else 0.0

    def pay(self, points: float) -> float:
        """Go on to the next submission; return its time, in slots."""
        left = self._paid + points
        while left >= self._price:
            left -= self._price
            self.slot += 1
            self._price = self._weight(self.slot)
        self._paid = left
        return self.slot + self.share
