"""Log messages about dispatching rounds: slow ones, and solver calls without a plan."""

import logging

from hpcsched.dispatching.decision import SOLVED, SolverCall

SLOW = 1.0
"""Decision time in real seconds from which a round is logged as slow."""

_log = logging.getLogger(__name__)


def log_round(
    number: int,
    now: int,
    queued: int,
    decision_time: float,
    solver: SolverCall | None = None,
) -> None:
    """Log a round if it was slow, or if its solver had no plan.

    Parameters
    ----------
    number, now
        Number and simulated second of the round.
    decision_time
        Real seconds that the dispatcher took.
    solver
        The call of a solver; None if the round asked none.
    """
    if decision_time >= SLOW:
        _log.info(
            "round %d at %d s was slow: %.2f s with %d queued jobs",
            number,
            now,
            decision_time,
            queued,
        )
    if solver is not None and solver.status not in SOLVED:
        # What a solver says may have several lines.
        why = f": {' '.join(solver.why.split())}" if solver.why else ""
        _log.info("round %d at %d s: the solver had no plan: %s%s", number, now, solver.status, why)
