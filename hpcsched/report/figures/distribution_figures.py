"""Figures of the distribution of a quantity of each job or round: boxes, distribution functions."""

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.boxes import box_of
from hpcsched.report.figures.chart_parts import BESIDE, Figure, panels, plot_width, sized
from hpcsched.report.figures.common_charts import boxes, distributions
from hpcsched.report.figures.figure_style import PAPER_WIDTH, contender_looks
from hpcsched.report.figures.job_quantities import QUEUE_SIZE, quantity_title, quantity_values


def box_figure(compared: ComparedStudy, quantity: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of a box for each contender and trace, on a logarithmic scale.

    Parameters
    ----------
    compared
        The runs.
    quantity
        Name in `QUANTITIES`, or the queue length.
    width
        Width, in points.
    """
    values = quantity_values(compared, quantity)
    found = {case: box_of(own) for case, own in values.items() if len(own)}
    drawn, title = contender_looks(compared), quantity_title(compared, quantity)
    chart = boxes(
        found, compared.study.groups, drawn, title, (plot_width(width), round(0.37 * width))
    )
    caption = (
        "From the first to the third quartile, with a line at the median and a triangle at the"
        " mean; whiskers to the least and largest value. The scale is logarithmic, and linear"
        " below 1 where there are values of 0."
    )
    return Figure(f"boxes-{quantity}", f"{_heading(quantity)}: boxes", caption, chart)


def distribution_figure(compared: ComparedStudy, quantity: str, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of distribution functions of a quantity, with a panel for each trace.

    Parameters
    ----------
    compared
        The runs.
    quantity
        Name in `QUANTITIES`, or the queue length.
    width
        Width, in points.
    """
    values, groups = quantity_values(compared, quantity), compared.study.groups
    drawn, title = contender_looks(compared), quantity_title(compared, quantity)
    counted = f"{'rounds' if quantity == QUEUE_SIZE else 'jobs'} up to it [%]"
    beside = min(len(groups), BESIDE)
    size = plot_width(width, beside), round(0.33 * width)
    charts = []
    for group in groups:
        of_group = {contender: own for (contender, g), own in values.items() if g == group}
        chart = distributions(of_group, drawn, (title, counted), width)
        charts.append(sized(chart, size, group))
    caption = (
        "The percentage of values up to each value. The scale is logarithmic, and linear below 1"
        " where there are values of 0."
    )
    return Figure(
        f"distribution-{quantity}", f"{_heading(quantity)}: distribution", caption, panels(charts)
    )


def _heading(quantity: str) -> str:
    return quantity.replace("_", " ").capitalize()
