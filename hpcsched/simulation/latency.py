"""Dispatch latency: simulated seconds that a round is charged."""

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hpcsched.dispatching.decision import Decision

MOST = 1000
"""Fractions of a second that are distinguished where jobs may wait for ever."""


class Latency(NamedTuple):
    """Charge of a round, in seconds: the sum of its parts.

    Attributes
    ----------
    base
        Seconds for each round.
    per_queued_job
        Seconds for each job in the queue when the decision is requested.
    per_variable
        Seconds for each decision variable of the solver call, if there was one.
    measured
        Factor on the real seconds of the decision.
    """

    base: Fraction = Fraction(0)
    per_queued_job: Fraction = Fraction(0)
    per_variable: Fraction = Fraction(0)
    measured: Fraction = Fraction(0)

    @property
    def fractions(self) -> int:
        """Number of distinct fractions of a second that rounds may carry over, at most `MOST`."""
        if self.measured:
            return MOST
        parts = self.base, self.per_queued_job, self.per_variable
        return min(lcm(*(part.denominator for part in parts)), MOST)

    def charge(self, queued: int, decision: "Decision", decision_time: float) -> Fraction:
        """Return the charge of a round, in seconds.

        Parameters
        ----------
        decision_time
            Real seconds.
        """
        charge = self.base + self.per_queued_job * queued
        if decision.solver is not None:
            charge += self.per_variable * decision.solver.variables
        if self.measured:
            charge += self.measured * Fraction(decision_time)
        return charge


class LatencyAccount:
    """Whole seconds of the charges of a run's rounds.

    The fraction of a second is carried over to the next round, exactly: five charges of 0.4 s make
    2 s.
    """

    def __init__(self, latency: Latency) -> None:
        self._latency = latency
        self._carried = Fraction(0)

    def charge(self, queued: int, decision: "Decision", decision_time: float) -> int:
        """Return the whole seconds after which a decision takes effect."""
        due = self._carried + self._latency.charge(queued, decision, decision_time)
        seconds = int(due)
        self._carried = due - seconds
        return seconds
