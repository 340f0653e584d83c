"""Figures of the distribution of a quantity of each job or round.

Spreads (`boxes`), distribution functions (`ecdf`) and survival functions, which show the tail.
"""

from collections.abc import Callable

import altair as alt

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import BESIDE, Figure, panels, plot_width, sized
from hpcsched.report.figures.common_charts import distributions, survivals
from hpcsched.report.figures.figure_style import PAPER_WIDTH, configuration_looks
from hpcsched.report.figures.job_quantities import (
    QUEUE_SIZE,
    is_duration,
    quantity_title,
    quantity_values,
)
from hpcsched.report.figures.row_charts import spread_panels
from hpcsched.report.figures.spreads import spread_of

_SCALE = "The scale is logarithmic, and linear below 1 where there are values of 0."


def box_figure(compared: ComparedStudy, quantity: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of spreads: a row for each configuration, a panel for each trace."""
    values = quantity_values(compared, quantity)
    found = {case: spread_of(own) for case, own in values.items() if len(own)}
    drawn, title = configuration_looks(compared), quantity_title(compared, quantity)
    groups = compared.study.groups
    # Rows are in the order of what they show, in the first trace.
    means = {one: spread.mean for (one, group), spread in found.items() if group == groups[0]}
    order = sorted(drawn, key=lambda one: means.get(one, float("inf")))
    chart = spread_panels(
        found,
        groups,
        {one: drawn[one] for one in order},
        title,
        width,
        seconds=is_duration(quantity),
    )
    caption = (
        "By ascending mean. Bars reach from the 25th to the 75th percentile, and thinner to the"
        " 90th and the 99th; the line from the least to the largest value. On the right: the"
        f" percentage of values at the least one. {_SCALE}"
    )
    return Figure(f"boxes-{quantity}", f"{_heading(quantity)}: percentiles", caption, chart)


def distribution_figure(compared: ComparedStudy, quantity: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of distribution functions of a quantity, with a panel for each trace."""
    caption = f"The percentage of values up to each value. {_SCALE}"
    return _curves(
        compared, quantity, width, distributions, ("distribution", "at or below", caption)
    )


def survival_figure(compared: ComparedStudy, quantity: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of survival functions of a quantity, with a panel for each trace."""
    caption = (
        "The percentage of values above each value, on a logarithmic scale, which shows the tail."
        " Where a curve begins, the percentage of values above the least one; it ends at the"
        f" largest. {_SCALE}"
    )
    return _curves(compared, quantity, width, survivals, ("survival", "above", caption))


def _curves(
    compared: ComparedStudy,
    quantity: str,
    width: int,
    draw: Callable[..., alt.Chart],
    about: tuple[str, str, str],
) -> Figure:
    """Return the figure of curves; `about` has the kind, the side that counts, the caption."""
    kind, side, caption = about
    values, groups = quantity_values(compared, quantity), compared.study.groups
    drawn, title = configuration_looks(compared), quantity_title(compared, quantity)
    counted = f"{'rounds' if quantity == QUEUE_SIZE else 'jobs'} {side} [%]"
    beside = min(len(groups), BESIDE)
    size = plot_width(width, beside), round(0.33 * width)
    charts = []
    for group in groups:
        of_group = {configuration: own for (configuration, g), own in values.items() if g == group}
        curves = draw(of_group, drawn, (title, counted), width, seconds=is_duration(quantity))
        charts.append(sized(curves, size, group))
    return Figure(f"{kind}-{quantity}", f"{_heading(quantity)}: {kind}", caption, panels(charts))


def _heading(quantity: str) -> str:
    return quantity.replace("_", " ").capitalize()
