"""Dispatch latency: what a round is charged, in simulated seconds."""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision

MOST = 1000
"""Fractions of a second that are told apart where it is asked whether jobs wait for ever."""


class Latency(NamedTuple):
    """A charge for each round, in seconds: the sum of these parts.

    `base` is charged as it is; `per_queued_job` for each job in the queue when the decision is
    asked for, `per_variable` for each decision variable of the solver call, if there was one.
    `measured` is multiplied with the real seconds that the decision took.
    """

    base: Fraction = Fraction(0)
    per_queued_job: Fraction = Fraction(0)
    per_variable: Fraction = Fraction(0)
    measured: Fraction = Fraction(0)

    @property
    def fractions(self) -> int:
        """How many fractions of a second may be carried from round to round, `MOST` at most."""
        if self.measured:
            return MOST
        parts = self.base, self.per_queued_job, self.per_variable
        return min(lcm(*(part.denominator for part in parts)), MOST)

    def charge(self, queued: int, decision: Decision, decision_time: float) -> Fraction:
        """Return what a round is charged."""
        charge = self.base + self.per_queued_job * queued
        if decision.solver is not None:
            charge += self.per_variable * decision.solver.variables
        if self.measured:
            charge += self.measured * Fraction(decision_time)
        return charge


class LatencyAccount:
    """Turns the charges of a run's rounds into whole seconds.

    The fraction of a second is carried over to the next round; it is exact, so that five charges
    of 0.4 s make 2 s.
    """

    def __init__(self, latency: Latency) -> None:
        self._latency = latency
        self._carried = Fraction(0)

    def charge(self, queued: int, decision: Decision, decision_time: float) -> int:
        """Return the whole seconds after which a decision is carried out."""
        due = self._carried + self._latency.charge(queued, decision, decision_time)
        seconds = int(due)
        self._carried = due - seconds
        return seconds
