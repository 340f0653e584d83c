"""Reads the Vega-Lite description of a chart: its units with their rows of data, in order."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.report.figures.chart_parts import Chart


class Unit(NamedTuple):
    """A unit of a chart: kind of its mark, encoding by channel, rows of data, panel's title."""

    mark: str
    encoding: Mapping[str, Any]
    rows: list[dict[str, Any]]
    title: str | None

    def column(self, name: str) -> list[Any]:
        """Return a column of the rows."""
        return [row[name] for row in self.rows]

    def axis_title(self, channel: str) -> Any:
        """Return the title of an axis."""
        return self.encoding[channel]["axis"]["title"]


def units(chart: Chart) -> list[Unit]:
    """Return the units of a chart."""
    whole = chart.to_dict()
    return list(_units(whole, whole.get("datasets", {}), "", None))


def _units(
    view: Mapping[str, Any],
    datasets: Mapping[str, list[dict[str, Any]]],
    data: str,
    title: str | None,
) -> Iterator[Unit]:
    data, title = view.get("data", {}).get("name", data), view.get("title", title)
    parts = view.get("concat", view.get("layer"))
    if parts is None:
        mark = view["mark"]["type"] if isinstance(view["mark"], dict) else view["mark"]
        yield Unit(mark, view["encoding"], datasets[data], title)
        return
    for part in parts:
        yield from _units(part, datasets, data, title)


def unit(chart: Chart, mark: str) -> Unit:
    """Return the first unit of a mark."""
    return next(one for one in units(chart) if one.mark == mark)


def texts(path: Path) -> list[str]:
    """Return what is written in an SVG file."""
    return re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(encoding="utf-8"))
