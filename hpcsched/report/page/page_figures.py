"""Figures of the report page: the figures of files, made interactive.

A page opens quickly for any number of jobs: a row of percentiles is a few numbers, distribution
functions have a few hundred steps, and time series are means over as many spans.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import Chart, Figure
from hpcsched.report.figures.decision_time_figure import decision_time_figure
from hpcsched.report.figures.distribution_figures import (
    box_figure,
    distribution_figure,
    survival_figure,
)
from hpcsched.report.figures.figure_files import description
from hpcsched.report.figures.load_figure import load_figure
from hpcsched.report.figures.metric_figure import metric_choice_figure

PAGE_WIDTH = 1000
"""Width of figures, in pixels of the screen."""
_FONT_SIZE = 13
SHOWN = "shown"
"""Parameter of each figure: the configurations that are shown."""


def page_figures(compared: ComparedStudy) -> Iterator[Figure]:
    """Yield the figures of a study.

    Raises
    ------
    InputError
        A file of a run is damaged.
    """
    yield metric_choice_figure(compared, PAGE_WIDTH)
    for quantity in ("bounded_slowdown", "wait_time"):
        yield box_figure(compared, quantity, PAGE_WIDTH)
        yield distribution_figure(compared, quantity, PAGE_WIDTH)
        yield survival_figure(compared, quantity, PAGE_WIDTH)
    yield load_figure(compared, None, PAGE_WIDTH)
    yield decision_time_figure(compared, PAGE_WIDTH)


def interactive(chart: Chart, configurations: tuple[str, ...]) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart that can be zoomed and filtered."""
    whole = description(chart, _FONT_SIZE)
    parameters = whole.setdefault("params", [])
    parameters.append({"name": SHOWN, "value": list(configurations)})
    for number, view in enumerate(_views(whole)):
        units = view.get("layer", [view])
        for unit in units:
            if _has_configuration(unit):
                filtered = {"filter": f"indexof({SHOWN}, datum.configuration) >= 0"}
                unit["transform"] = [filtered, *unit.get("transform", [])]
        if _is_continuous(units[0]):
            units[0].setdefault("params", []).append(_zoom(number))
    return whole


def _zoom(number: int) -> dict[str, Any]:
    # The wheel alone scrolls the page.
    select = {"type": "interval", "zoom": "wheel![event.shiftKey]"}
    return {"name": f"zoom_{number}", "select": select, "bind": "scales"}


def _views(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the views of a description: its panels, or itself."""
    views: list[dict[str, Any]] = chart.get("concat", [chart])
    return views


def _has_configuration(unit: Mapping[str, Any]) -> bool:
    channels = unit.get("encoding", {}).values()
    fields = (one for channel in channels for one in _each(channel))
    return any(field.get("field") == "configuration" for field in fields)


def _each(channel: Any) -> list[dict[str, Any]]:
    """Return the fields of a channel, which may be one or several."""
    return channel if isinstance(channel, list) else [channel]


def _is_continuous(unit: Mapping[str, Any]) -> bool:
    """Return whether both axes of a unit are continuous, so that it can be zoomed."""
    places = (unit.get("encoding", {}).get(channel, {}) for channel in ("x", "y"))
    return all(place.get("type") in ("quantitative", "temporal") for place in places)
