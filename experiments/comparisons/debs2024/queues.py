"""Figures 5 and 7 of the paper: queues over time, and how long queues are that rounds meet."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from comparisons.command import Drawing, Picture
from comparisons.finished import Finished
from comparisons.pictures import draw_picture
from hpcsched.report.figures.figure_style import LINES
from hpcsched.results.directory import RunDirectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hpcsched.system.system import IntArray

DAY = 86_400

Labels = Mapping[str, str]

WITH_QUEUES: Mapping[str, Labels] = {
    "List-SAF": {"predictor": "actual", "dispatcher": "List-SAF"},
    "CP-AF": {"predictor": "actual", "dispatcher": "CP", "objective": "AF"},
}
"""The runs of figure 5, by what the paper calls them."""

WITH_ROUNDS: Mapping[str, Labels] = {
    "CP-P²SF": {"predictor": "actual", "dispatcher": "CP", "objective": "P2SF"},
}
"""That of figure 7."""


def draw_queues(finished: Finished, drawing: Drawing) -> Iterator[Picture]:
    """Draw the figures of which all runs are there; raises InputError where one cannot be."""
    over_time, by_round = _runs(finished, WITH_QUEUES), _runs(finished, WITH_ROUNDS)
    if over_time:
        plots = [partial(_over_time, over_time)]
        drawn = draw_picture("figure-5", "Figure 5: jobs in the queue over time", plots, drawing)
        assert drawn is not None
        yield drawn
    if by_round:
        plots = [partial(_by_round, by_round)]
        drawn = draw_picture("figure-7", "Figure 7: jobs in the queue of a round", plots, drawing)
        assert drawn is not None
        yield drawn


def _runs(finished: Finished, wanted: Mapping[str, Labels]) -> Mapping[str, RunDirectory]:
    found = {name: finished.having(**labels) for name, labels in wanted.items()}
    return {name: runs[0].run for name, runs in found.items()} if all(found.values()) else {}


def _over_time(runs: Mapping[str, RunDirectory], axes: "Axes") -> None:
    for (name, run), line in zip(runs.items(), LINES, strict=False):
        now, waiting = _columns(run, ("now", "waiting"))
        axes.plot(
            now / DAY, waiting, label=name, linewidth=0.8, linestyle=line, drawstyle="steps-post"
        )
    axes.set_xlabel("simulated time, days")
    axes.set_ylabel("jobs in the queue")
    axes.legend(fontsize=7, frameon=False)
    axes.grid(True)


def _by_round(runs: Mapping[str, RunDirectory], axes: "Axes") -> None:
    for name, run in runs.items():
        (queued,) = _columns(run, ("queued",))
        sizes, counts = np.unique(queued, return_counts=True)
        percent = 100 * np.cumsum(counts) / len(queued)
        axes.plot(sizes, percent, label=name, drawstyle="steps-post")
    axes.set_xlabel("jobs in the queue of a round")
    axes.set_ylabel("rounds, %")
    axes.set_ylim(0, 101)
    axes.legend(fontsize=7, frameon=False)
    axes.grid(True)


def _columns(run: RunDirectory, names: Sequence[str]) -> list["IntArray"]:
    table = run.rounds.read(*names)
    return [table[name].to_numpy() for name in names]
