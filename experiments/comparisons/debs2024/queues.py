"""Figures 5 and 7 of the paper: queues over time, and how long queues are that rounds meet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import altair as alt

from comparisons.command import Drawing, Picture
from comparisons.finished import Finished
from comparisons.pictures import draw_picture
from hpcsched.report.figures.chart_parts import PALETTE, Look, chart_of, colours, dashes, rows
from hpcsched.report.figures.run_figures import distributions
from hpcsched.runs.directory import RunDirectory

if TYPE_CHECKING:
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
        plots = [_over_time(over_time)]
        drawn = draw_picture("figure-5", "Figure 5: jobs in the queue over time", plots, drawing)
        assert drawn is not None
        yield drawn
    if by_round:
        plots = [_by_round(by_round)]
        drawn = draw_picture("figure-7", "Figure 7: jobs in the queue of a round", plots, drawing)
        assert drawn is not None
        yield drawn


def _runs(finished: Finished, wanted: Mapping[str, Labels]) -> Mapping[str, RunDirectory]:
    found = {name: finished.having(**labels) for name, labels in wanted.items()}
    return {name: runs[0].run for name, runs in found.items()} if all(found.values()) else {}


def _over_time(runs: Mapping[str, RunDirectory]) -> alt.Chart:
    looks = _looks(runs)
    data = []
    for name, run in runs.items():
        now, waiting = _columns(run, ("now", "waiting"))
        data += rows(configuration=name, day=now / DAY, waiting=waiting)
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=0.8)
        .encode(
            x=alt.X("day:Q", axis=alt.Axis(title="simulated time, days")),
            y=alt.Y("waiting:Q", axis=alt.Axis(title="jobs in the queue")),
            color=colours(looks),
            strokeDash=dashes(looks),
        )
    )
    return chart


def _by_round(runs: Mapping[str, RunDirectory]) -> alt.Chart:
    queued = {name: _columns(run, ("queued",))[0].astype(float) for name, run in runs.items()}
    return distributions(queued, _looks(runs), ("jobs in the queue of a round", "rounds, %"))


def _looks(runs: Mapping[str, RunDirectory]) -> dict[str, Look]:
    colour = ("blue", "orange", "green")
    return {name: Look(PALETTE[colour[k % 3]], k) for k, name in enumerate(runs)}


def _columns(run: RunDirectory, names: Sequence[str]) -> list["IntArray"]:
    table = run.rounds.read(*names)
    return [table[name].to_numpy() for name in names]
