"""The kinds of figures: the rows from which `hpcsched plot` and `hpcsched.plot` draw."""

from collections.abc import Callable, Mapping

from hpcsched.report.figures.chart_parts import Figure
from hpcsched.report.figures.distribution_figures import box_figure, distribution_figure
from hpcsched.report.figures.gantt_figure import gantt_figure
from hpcsched.report.figures.metric_figure import metric_figure
from hpcsched.report.figures.series_figures import decision_time_figure, load_figure

FIGURES: Mapping[str, Callable[..., Figure]] = {
    "boxes": box_figure,
    "ecdf": distribution_figure,
    "bars": metric_figure,
    "load": load_figure,
    "gantt": gantt_figure,
    "decision-time": decision_time_figure,
}
"""Function of a compared study and of options, by kind."""
