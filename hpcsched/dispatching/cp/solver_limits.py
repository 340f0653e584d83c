"""Limits of a solver's search: a budget of work, or the papers' stopping rule."""

from typing import NamedTuple


class Budget(NamedTuple):
    """Work that is counted and not timed, so that equal problems get equal answers."""

    work: float


class StoppingRule(NamedTuple):
    """The papers' protocol, in real seconds (Galleguillos et al., CP 2021, sections 3 and 4).

    The search is interrupted after `first` seconds. It goes on while there is no plan yet, and
    once there is one as long as it got better within the last `extensions` limits: to 2 δ, 4 δ
    and so on.

    Attributes
    ----------
    first
        First time limit in seconds (δ).
    most
        Largest time limit in seconds (δmax).
    extensions
        Number of limits in a row without a better plan that end the search (k); 0: it ends at the
        first limit with a plan.
    """

    first: float = 1.0
    most: float = 16.0
    extensions: int = 2


Limits = Budget | StoppingRule


def share(limits: Limits, part: float) -> Limits:
    """Return a share of limits for one of several calls.

    Parameters
    ----------
    part
        The share, above 0 and up to 1.
    """
    if isinstance(limits, Budget):
        return Budget(limits.work * part)
    # `extensions` counts limits, not seconds, and is not shared.
    return limits._replace(first=limits.first * part, most=limits.most * part)


class Watch:
    """Decides, at the end of each time limit, whether a search goes on."""

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule
        self._best: int | None = None
        self._idle = 0
        self.limit = rule.first

    def goes_on(self, best: int | None) -> bool:
        """Extend the limit and return True, or return False if the search ends.

        Parameters
        ----------
        best
            Objective of the best plan so far; None while there is none.
        """
        rule = self._rule
        if best is not None:
            better = self._best is None or best < self._best
            self._idle = 0 if better else self._idle + 1
            self._best = best
            if self._idle >= rule.extensions:
                return False
        if self.limit >= rule.most:
            return False
        self.limit = min(2 * self.limit, rule.most)
        return True
