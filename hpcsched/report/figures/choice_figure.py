"""The figure of the dispatchers that `hyper` chose over time."""

import altair as alt
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    Figure,
    chart_of,
    panels,
    plot_width,
    rows,
    sized,
)
from hpcsched.report.figures.dispatcher_choices import choices_of
from hpcsched.report.figures.figure_style import PALETTE, PAPER_WIDTH
from hpcsched.report.figures.time_axis import time_axis


def choice_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the chosen dispatcher over time, in a panel for each run.

    Raises
    ------
    InputError
        No run's dispatcher chooses.
    """
    found = [(one, choices) for one in compared.study.runs if (choices := choices_of(one.run))]
    if not found:
        message = "no run chose between dispatchers; expected one of the dispatcher hyper"
        raise InputError(Finding("nothing-chosen", message))
    labels, charts = compared.study.run_labels, []
    for one, choices in found:
        last = pc.max(one.run.rounds.read("now")["now"]).as_py()
        time = time_axis(choices[0].now, last, one.run.calendar)
        names = list(dict.fromkeys(choice.chosen for choice in choices))
        data = rows(
            dispatcher=[choice.chosen for choice in choices],
            begin=time.places(choice.now for choice in choices),
            end=time.places((*(choice.now for choice in choices[1:]), last)),
            because=[choice.because for choice in choices],
        )
        chart = (
            chart_of(data)
            .mark_bar(color=PALETTE["blue"], height={"band": 0.7})
            .encode(
                x=time.x("begin"),
                x2="end",
                y=alt.Y("dispatcher:N", sort=names, axis=alt.Axis(title=None)),
                tooltip=["dispatcher:N", time.tooltip("begin"), time.tooltip("end"), "because:N"],
            )
        )
        charts.append(sized(chart, (plot_width(width), 16 * len(names) + 8), labels[one.name]))
    caption = "The dispatcher that decided, over time."
    return Figure("choices", "Chosen dispatchers", caption, panels(charts, columns=1))
