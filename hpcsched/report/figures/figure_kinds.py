"""The kinds of figures: the rows from which `hpcsched plot` and `hpcsched.plot` draw."""

from collections.abc import Callable, Mapping

from hpcsched.report.figures.chart_parts import Figure
from hpcsched.report.figures.distribution_figures import (
    box_figure,
    distribution_figure,
    survival_figure,
)
from hpcsched.report.figures.gantt_figure import gantt_figure
from hpcsched.report.figures.load_figure import load_figure
from hpcsched.report.figures.metric_figure import metric_figure
from hpcsched.report.figures.round_figures import (
    choice_figure,
    cpu_over_time_figure,
    cpu_time_figure,
    decision_time_figure,
)

FIGURES: Mapping[str, Callable[..., Figure]] = {
    "boxes": box_figure,
    "ecdf": distribution_figure,
    "survival": survival_figure,
    "bars": metric_figure,
    "load": load_figure,
    "gantt": lambda compared, **options: gantt_figure(compared.study, **options),
    "decision-time": decision_time_figure,
    "choices": choice_figure,
    "cpu-time": cpu_time_figure,
    "cpu-memory": cpu_over_time_figure,
}
"""Function of a compared study and of options, by kind."""
