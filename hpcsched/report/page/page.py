"""The report page: tables and interactive figures of runs in one HTML file.

One can zoom, read values off, and hide configurations. jinja2 escapes text from scenarios and
traces. A page opens quickly for any number of jobs: a row of percentiles is a few numbers,
distribution functions have a few hundred steps, and time series are means over as many spans.

"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import Chart, Figure
from hpcsched.report.figures.distribution_figures import (
    box_figure,
    distribution_figure,
    survival_figure,
)
from hpcsched.report.figures.figure_files import description
from hpcsched.report.figures.load_figure import load_figure
from hpcsched.report.figures.metric_figure import metric_choice_figure
from hpcsched.report.figures.round_figures import decision_time_figure
from hpcsched.report.job_breakdown import JobBreakdown, breakdown_table
from hpcsched.report.page.html_pages import render
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.run_comparison import Comparison, comparison_table
from hpcsched.report.tables.study_answer import answer
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.solver_rounds import in_words

PAGE_WIDTH = 1000
"""Width of figures, in pixels of the screen."""
_FONT_SIZE = 13
SHOWN = "shown"
"""Parameter of each figure: the configurations that are shown."""


def page_figures(compared: ComparedStudy) -> Iterator[Figure]:
    """Yield the figures of a study."""
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


OK = "ok"


class Verdict(NamedTuple):
    """Outcome of the audit of a run.

    Attributes
    ----------
    word
        `ok`, `not ok` or `not checked`.
    lines
        Checks and violations, or the reason why it was not checked.
    """

    word: str
    lines: tuple[str, ...]


NOT_AUDITED = Verdict("not checked", ())
"""Verdict on each run of a page for which no audit was asked."""


def write_page(
    compared: ComparedStudy,
    comparison: Comparison,
    verdicts: Mapping[str, Verdict],
    *,
    title: str,
    warnings: Sequence[str] = (),
    by_class: Sequence[JobBreakdown] = (),
) -> str:
    """Return the page of a study as HTML, the same for the same runs.

    Parameters
    ----------
    verdicts
        Outcome of the audit by the name of the run.
    """
    study = compared.study
    configurations = study.configurations
    # Described first: a damaged file ends the command before the page is begun.
    figures = list(page_figures(compared))
    others = [TABLES[name](compared) for name in TABLES]
    return render(
        "report.html",
        title=title,
        runs=[_about(one, study.labels, verdicts[one.name]) for one in study.runs],
        answer=answer(compared, not_ok(verdicts), comparison),
        configurations=study.configuration_labels,
        warnings=warnings,
        tables=[
            comparison_table(comparison),
            # The rows of a page can be sorted and filtered, which leaves no sections.
            *(breakdown_table(one, sections=False) for one in by_class),
            *(table for table in others if table.rows),
        ],
        figures=figures,
        drawings={figure.name: interactive(figure.chart, configurations) for figure in figures},
    )


def not_ok(verdicts: Mapping[str, Verdict]) -> list[str] | None:
    """Return the names of runs with failed audits; None without any audit.

    Parameters
    ----------
    verdicts
        Outcome of the audit by the name of the run.
    """
    if set(verdicts.values()) == {NOT_AUDITED}:
        return None
    return [name for name, verdict in verdicts.items() if verdict.word != OK]


def _about(one: StudiedRun, labels: Mapping[str, str], verdict: Verdict) -> Mapping[str, Any]:
    """Return the content of the page about one run."""
    text = one.run.scenario_path.read_text(encoding="utf-8")
    called = one.run.solver_rounds
    return {
        "name": one.name,
        "label": labels[one.name],
        "configuration": labels[one.configuration],
        "trace": one.group,
        "seed": one.seed,
        "path": str(one.run.path),
        "manifest": one.run.manifest,
        "jobs": one.run.summary["jobs"],
        "solver": called,
        "solver_in_words": in_words(called),
        "scenario": text,
        "hash": hashlib.sha256(text.encode()).hexdigest(),
        "verdict": verdict,
    }
