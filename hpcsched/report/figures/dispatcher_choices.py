"""The dispatchers that `hyper` chose during a run, with the reasons."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from hpcsched.runs.directory import RunDirectory


class ChosenFrom(NamedTuple):
    """A dispatcher that decides from a round on.

    Attributes
    ----------
    round, now
        Number and simulated second of the round.
    """

    round: int
    now: int
    chosen: str
    because: str


def choices_of(run: RunDirectory) -> tuple[ChosenFrom, ...]:
    """Return the choices of a run, in order; empty where the dispatcher does not choose.

    Returns
    -------
    tuple
        The first choice, and every change.
    """
    if not run.rounds.has("chosen"):  # of a version before there was a choice
        return ()
    table = run.rounds.read("round", "now", "chosen", "because")
    moved = table.filter(pc.is_valid(table["chosen"]))
    return tuple(
        ChosenFrom(row["round"], row["now"], row["chosen"], row["because"])
        for row in moved.to_pylist()
    )


def choice_at(choices: Sequence[ChosenFrom], time: int) -> ChosenFrom | None:
    """Return the dispatcher that decided at a time.

    Parameters
    ----------
    time
        Simulated second.

    Returns
    -------
    ChosenFrom or None
        None before the first round.
    """
    before = [choice for choice in choices if choice.now <= time]
    return before[-1] if before else None
