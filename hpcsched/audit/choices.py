"""Check of the choices of a dispatcher that hands rounds on to others."""

from collections.abc import Iterator, Sequence

from hpcsched.audit.violations import Check
from hpcsched.results.directory import RunDirectory


def check_choices(run: RunDirectory, portfolio: Sequence[str]) -> Iterator[Check]:
    """Yield a check of the columns `chosen` and `because`, if any round states a choice.

    Parameters
    ----------
    run
        The run directory.
    portfolio
        Names of the dispatchers to choose from; empty for a dispatcher that does not choose. The
        first round must state a choice; an empty cell means the choice of the round before.
    """
    table = run.rounds.read("round", "chosen", "because")
    chosen, because = table["chosen"].to_pylist(), table["because"].to_pylist()
    # A run of a dispatcher that does not choose must not state choices either.
    if not portfolio and not any(chosen) and not any(because):
        return
    check = Check("each chosen dispatcher is in the portfolio, and differs from the one before")
    present: str | None = None
    for k, (name, why) in enumerate(zip(chosen, because, strict=True), start=1):
        check.looked_at += 1
        if (name is None) != (why is None):
            check.found(f"round {k}: expected a choice with a reason, found {name!r}, {why!r}")
        if name is None and k == 1 and portfolio:
            check.found("round 1: chosen: expected a choice, found none")
        if name is not None:
            if name == present or name not in portfolio:
                others = ", ".join(repr(other) for other in portfolio if other != present)
                expected = f"one of {others}" if others else "none"
                check.found(f"round {k}: chosen: expected {expected}, found {name!r}")
            present = name
    yield check
