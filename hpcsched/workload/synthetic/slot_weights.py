"""Slot weight method: a clock that runs fast in slots of the day with many submissions.

A day has 48 slots of half an hour. Each has a weight, and time passes by paying: the interval from
one submission to the next is a number of points, which is spent slot after slot, and a slot's
weight is the price of the whole slot. With weights of mean 1, a point is half an hour on average.

Source: Lublin and Feitelson, *The Workload on Parallel Supercomputers*, 2003, on arrivals. They
draw points independently of each other; jobs then come in proportion to the weights.
"""

from collections.abc import Callable

SLOT = 1800
"""Seconds in a slot."""
SLOTS = 48
"""Slots in a day."""


class SlotWalk:
    """Walk from submission to submission through weighted slots.

    Parameters
    ----------
    weight
        Weight of a slot by its number, called once for each slot in order; slots are numbered on
        from day to day. Some weight must not be zero, or a walk never ends.
    share
        Part of the first slot that has passed, from 0 to 1.
    """

    def __init__(self, weight: Callable[[int], float], slot: int = 0, share: float = 0.0) -> None:
        self._weight = weight
        self.slot = slot
        """The slot of the last submission."""
        self._price = weight(slot)
        self._paid = share * self._price

    @property
    def share(self) -> float:
        """Part of the slot that has passed, from 0 to 1."""
        return self._paid / self._price if self._price else 0.0

    def pay(self, points: float) -> float:
        """Advance to the next submission.

        Returns
        -------
        float
            Time of the submission, in slots.
        """
        left = self._paid + points
        # A slot of price 0 is passed for nothing.
        while left >= self._price:
            left -= self._price
            self.slot += 1
            self._price = self._weight(self.slot)
        self._paid = left
        return self.slot + self.share
