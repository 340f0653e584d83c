"""The dispatchers that `hyper` chose during a run, with the reasons, and a figure of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.pictures import DAY, WIDTH, Draw
from hpcsched.results.directory import RunDirectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ChosenFrom(NamedTuple):
    """A dispatcher that decides from a round on.

    Attributes
    ----------
    round, now
        Number and simulated second of the round.
    chosen
        Name of the dispatcher.
    because
        Reason, in words.
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
    choices
        Choices of a run, in order.
    time
        Simulated second.

    Returns
    -------
    ChosenFrom or None
        None before the first round.
    """
    before = [choice for choice in choices if choice.now <= time]
    return before[-1] if before else None


def draw_choices(compared: ComparedStudy) -> Draw:
    """Return the drawing of the chosen dispatcher over time, in a panel for each run.

    Raises
    ------
    InputError
        No run's dispatcher chooses.
    """
    found = [(one, choices) for one in compared.study.runs if (choices := choices_of(one.run))]
    if not found:
        message = "no run chose between dispatchers; expected one of the dispatcher hyper"
        raise InputError(Finding("nothing-chosen", message))

    def draw(figure: "Figure") -> None:
        heights = [len({choice.chosen for choice in choices}) for _, choices in found]
        figure.set_size_inches(WIDTH, 0.5 + sum(0.5 + 0.22 * height for height in heights))
        panels = figure.subplots(
            len(found), 1, squeeze=False, height_ratios=[2 + height for height in heights]
        ).ravel()
        for axes, (one, choices) in zip(panels, found, strict=True):
            names = list(dict.fromkeys(choice.chosen for choice in choices))
            last = pc.max(one.run.rounds.read("now")["now"]).as_py()
            ends = [*(choice.now for choice in choices[1:]), last]
            for choice, end in zip(choices, ends, strict=True):
                begin, place = choice.now / DAY, names.index(choice.chosen)
                axes.broken_barh([(begin, max(end / DAY - begin, 1e-9))], (place - 0.35, 0.7))
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_title(one.name, fontsize=8)
        panels[-1].set_xlabel("days since the trace's origin")

    return draw
