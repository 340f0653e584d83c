"""The report page: tables and interactive figures of runs in one HTML file that needs no network.

Vega draws the figures in the browser, from the same descriptions as those of files.
A page opens quickly for any number of jobs: curves have a few hundred points.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hpcsched import _core
from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import HpcschedError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.fidelity import known_fidelity
from hpcsched.report.figures.chart_parts import Chart, Figure, description
from hpcsched.report.figures.run_figures import (
    box_figure,
    decision_time_figure,
    distribution_figure,
    load_figure,
    metric_figure,
)
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.studying import StudyComparison
from hpcsched.report.tables.study_tables import TABLES, answer
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.solver_rounds import in_words
from hpcsched.version import __version__

_LAYOUT = "hpcsched.report.page"


def render(template: str, package: str = _LAYOUT, **content: Any) -> str:
    """Return a page as HTML: its `title`, its `drawings` by name, variables of the template."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_LAYOUT)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(version=__version__, vega=_vega(), **content)


@cache
def _vega() -> Markup:
    """Return the scripts of Vega; the build has put them beside the compiled core."""
    # They are the libraries' own texts, which hold no end of a script.
    return Markup(Path(_core.__file__).with_name("vega.js").read_text(encoding="utf-8"))


PAGE_WIDTH = 1000
"""Width of figures, in pixels of the screen."""
_FONT_SIZE = 13
SHOWN = "shown"
"""Parameter of each figure: the configurations that are shown."""


def page_figures(compared: ComparedStudy) -> Iterator[Figure]:
    """Yield the figures of a study."""
    yield metric_figure(compared, None, PAGE_WIDTH)
    for quantity in ("bounded_slowdown", "wait_time"):
        yield box_figure(compared, quantity, PAGE_WIDTH)
        yield distribution_figure(compared, quantity, PAGE_WIDTH)
    yield load_figure(compared, None, PAGE_WIDTH)
    yield decision_time_figure(compared, PAGE_WIDTH)


def interactive(chart: Chart, configurations: tuple[str, ...]) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart that can be zoomed and filtered."""
    whole = description(chart, _FONT_SIZE)
    parameters = whole.setdefault("params", [])
    parameters.append({"name": SHOWN, "value": list(configurations)})
    for number, view in enumerate(whole.get("concat", [whole])):
        units = view.get("layer", [view])
        for unit in units:
            encoding = unit.get("encoding", {})
            channels = (channel for channel in encoding.values() if isinstance(channel, dict))
            if any(channel.get("field") == "configuration" for channel in channels):
                filtered = {"filter": f"indexof({SHOWN}, datum.configuration) >= 0"}
                unit["transform"] = [filtered, *unit.get("transform", [])]
        places = (units[0].get("encoding", {}).get(axis, {}) for axis in ("x", "y"))
        # Only continuous axes can be zoomed; the wheel alone scrolls the page.
        if all(place.get("type") in ("quantitative", "temporal") for place in places):
            select = {"type": "interval", "zoom": "wheel![event.shiftKey]"}
            zoom = {"name": f"zoom_{number}", "select": select, "bind": "scales"}
            units[0].setdefault("params", []).append(zoom)
    return whole


OK = "ok"


class Verdict(NamedTuple):
    """Outcome of the audit of a run: `ok`, `not ok` or `not checked`, and its lines."""

    word: str
    lines: tuple[str, ...]


NOT_AUDITED = Verdict("not checked", ())
"""Verdict on each run of a page for which no audit was asked."""


class StudyPage(NamedTuple):
    """The page of a study, its warnings, and the runs with an audit that is not `ok`."""

    html: str
    warnings: tuple[str, ...]
    not_ok: tuple[str, ...]


def study_page(
    found: StudyComparison, *, title: str = "Runs compared", verify: bool = True
) -> StudyPage:
    """Return the page of a comparison with tables, figures and the audit of each run."""
    runs = found.study.study.runs
    verdicts = {one.name: _verdict(one.run) if verify else NOT_AUDITED for one in runs}
    page = write_page(found, verdicts, title=title)
    return StudyPage(page, found.warnings, tuple(not_ok(verdicts) or ()))


def _verdict(run: RunDirectory) -> Verdict:
    """Audit a run; the verdict is `not checked` if it cannot be audited, as without its trace."""
    try:
        found = audit_directory(run)
    except HpcschedError as error:
        return NOT_AUDITED._replace(lines=(str(error),))
    word = OK if found.ok else "not ok"
    return Verdict(word, (*found.lines(), word))


def write_page(found: StudyComparison, verdicts: Mapping[str, Verdict], *, title: str) -> str:
    """Return the page of a study as HTML, the same for the same runs."""
    compared, study = found.study, found.study.study
    configurations = study.configurations
    known = known_fidelity(compared)
    # Described first: a damaged file ends the command before the page is begun.
    figures = list(page_figures(compared))
    others = [TABLES[name](compared) for name in TABLES]
    return render(
        "report.html",
        title=title,
        runs=[_about(one, study.labels, verdicts[one.name]) for one in study.runs],
        answer=[
            *answer(compared, not_ok(verdicts), found.comparison),
            *(() if isinstance(known, str) else known.lines()),
        ],
        configurations=study.configuration_labels,
        warnings=found.warnings,
        tables=[
            *found.tables,
            *(table for table in others if table.rows),
        ],
        figures=figures,
        drawings={figure.name: interactive(figure.chart, configurations) for figure in figures},
    )


def not_ok(verdicts: Mapping[str, Verdict]) -> list[str] | None:
    """Return the names of runs with failed audits; None without any audit."""
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
