"""Checks of choices of a dispatcher, and of the times at which it wants to be called again."""

from collections.abc import Iterator, Sequence

from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory


def check_choices(run: RunDirectory, portfolio: Sequence[str]) -> Iterator[Check]:
    """Yield a check of the columns `chosen` and `because`, if any round states a choice.

    Parameters
    ----------
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


def check_call_again(
    rounds: RoundColumns, *, allowed: bool, interval: int | None, exact: bool
) -> Iterator[Check]:
    """Yield a check of the column `call_again_at`, if any round has or should have a value.

    Parameters
    ----------
    allowed
        True if the dispatcher may ask for rounds.
    interval
        Seconds between two rounds of a backfill scheduler, for the next of which all others ask
        while jobs wait; None without one.
    exact
        True if all queued jobs are shown to the dispatcher and its starts are carried out at once,
        so that rounds of the backfill scheduler are known.
    """
    if not allowed and not any(again is not None for again in rounds.call_again_at):
        return
    check = Check("rounds that the dispatcher asked for are at times that it may ask for")
    backfilled: list[int] = []
    for k, (now, again) in enumerate(
        zip(rounds.now.tolist(), rounds.call_again_at, strict=True), start=1
    ):
        check.looked_at += 1
        due = [time + interval for time in backfilled if interval and time + interval > now]
        if not allowed and again is not None:
            check.found(f"round {k}: call_again_at: expected none, found {again}")
        elif again is not None and again <= now:
            check.found(f"round {k}: call_again_at: expected a time after {now}, found {again}")
        elif interval is not None:
            all_start = exact and rounds.started[k - 1] == rounds.queued[k - 1]
            expected = due[-1] if due and exact and not all_start else None
            if again != expected if exact else again is not None and again not in due:
                asked = expected if exact else due
                check.found(f"round {k}: call_again_at: expected {asked}, found {again}")
            if again is None and not all_start:
                backfilled.append(now)
    yield check
