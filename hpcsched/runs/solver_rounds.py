"""Dispatching rounds that asked a solver, and those of them in which it had no plan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hpcsched.dispatching.decision import PROCESS, SOLVED

TOO_MANY = 0.1
"""Share of the rounds with a solver above which rounds without a plan are warned of.

A fallback decides such a round. Where it decides more than one in ten, the figures of a run tell
of the fallback as well, and no longer of the solver alone.
"""

MARK = "(!)"
"""Mark beside the name of a run with too many rounds without a plan."""

LOST = "the solver's process died, did not start or overran its limit"
"""End of the reason for which a run with lost calls is not reproducible."""

_CHECK = "check that the solver works"
_LONGER = "give it a larger `budget` or `time_limits`, or fewer jobs (`queue_length`)"
_FEWER = "give it fewer jobs (`queue_length`)"
_ADVICE = {"unknown": _LONGER, "overrun": _LONGER, "overflow": _FEWER}


@dataclass(frozen=True, slots=True)
class SolverRounds:
    """Counts of rounds that asked a solver.

    Attributes
    ----------
    without_plan
        Number of them without a plan, by status of the solver, the most frequent first.
    """

    asked: int
    without_plan: dict[str, int]

    @property
    def unsolved(self) -> int:
        """Number of rounds without a plan."""
        return sum(self.without_plan.values())

    @property
    def too_many(self) -> bool:
        """True if the share of rounds without a plan is above `TOO_MANY`."""
        return self.asked > 0 and self.unsolved / self.asked > TOO_MANY


def is_lost(status: str, why: str) -> bool:
    """Return True if a call was lost: its process died, did not start or overran its limit."""
    return status == "overrun" or PROCESS in why


def lost_in_words(calls: int) -> str | None:
    """Return why lost calls of a solver make a run irreproducible; None if none was lost.

    Whether a solver runs out of time or memory depends on the machine.
    """
    if not calls:
        return None
    return f"in {calls:,} {'round' if calls == 1 else 'rounds'} {LOST}"


def solver_rounds(statuses: Mapping[str, int]) -> SolverRounds:
    """Return the counts, given the number of rounds by status."""
    without = [(status, n) for status, n in statuses.items() if n and status not in SOLVED]
    without.sort(key=lambda item: (-item[1], item[0]))
    return SolverRounds(sum(statuses.values()), dict(without))


def in_words(rounds: SolverRounds, noun: str = "rounds") -> str:
    """Return the counts as a sentence; empty if no solver was asked.

    Examples
    --------
    >>> in_words(solver_rounds({"optimal": 7, "failed": 1}))
    '1 of 8 rounds with a solver had no plan: failed 1'
    """
    if not rounds.asked:
        return ""
    if not rounds.unsolved:
        return f"all {rounds.asked:,} {noun} with a solver had a plan"
    statuses = ", ".join(f"{status} {n:,}" for status, n in rounds.without_plan.items())
    return f"{rounds.unsolved:,} of {rounds.asked:,} {noun} with a solver had no plan: {statuses}"


def what_to_do(counts: Iterable[SolverRounds]) -> str:
    """Return advice against too many rounds without a plan, by their statuses."""
    statuses = (status for rounds in counts for status in rounds.without_plan)
    advice = dict.fromkeys(_ADVICE.get(status, _CHECK) for status in statuses)
    limit = f"above {100 * TOO_MANY:g} % figures tell of the fallback rather than of the solver"
    return f"{limit}: {', and '.join(advice)}"


def warning(rounds: SolverRounds, noun: str = "rounds") -> str | None:
    """Return a warning with advice if too many rounds had no plan, else None."""
    if not rounds.too_many:
        return None
    return f"{in_words(rounds, noun)}; {what_to_do([rounds])}"
