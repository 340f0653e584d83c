"""The report page: one HTML file with tables and interactive figures that needs no network.

plotly.js draws the figures in the browser; it comes with the Python package `plotly` and is written
into the page. One can zoom, read values off, and hide contenders. Its boxes take quartiles, so the
page need not hold the jobs; it is MIT-licensed and well kept. jinja2 fills in the page, and escapes
text from scenarios and traces.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched.errors import Finding, InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.page.page_figures import page_figures
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.comparison_table import comparison_table
from hpcsched.report.tables.run_comparison import Comparison
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.results.solver_rounds import in_words
from hpcsched.version import __version__

_TEMPLATE = "report.html"


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


def check_installed() -> None:
    """Check that the packages for pages are installed.

    Raises
    ------
    InputError
        One is missing; the message says how to install it.
    """
    try:
        import jinja2  # noqa: F401, PLC0415
        import plotly  # noqa: F401, PLC0415
    except ImportError as error:
        message = f"a report needs {error.name}: pip install 'hpcsched[report]'"
        raise InputError(Finding("not-installed", message)) from error


def write_page(
    compared: ComparedStudy,
    comparison: Comparison,
    verdicts: Mapping[str, Verdict],
    *,
    title: str,
    warnings: Sequence[str] = (),
) -> str:
    """Return the page of a study as HTML, the same for the same runs.

    Parameters
    ----------
    compared
        The runs and their baseline.
    comparison
        Their metrics.
    verdicts
        Outcome of the audit by the name of the run.
    title
        Title of the page.
    warnings
        Sentences at its top.

    Raises
    ------
    InputError
        A file of a run is damaged.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415
    from plotly.offline import get_plotlyjs  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("hpcsched.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Drawn first: a damaged file ends the command before the page is begun.
    figures = list(page_figures(compared))
    others = [TABLES[name](compared) for name in TABLES]
    return environment.get_template(_TEMPLATE).render(
        title=title,
        version=__version__,
        runs=[_about(one, verdicts[one.name]) for one in compared.study.runs],
        contenders=compared.study.contenders,
        warnings=warnings,
        tables=[comparison_table(comparison), *(table for table in others if table.rows)],
        figures=figures,
        drawings={figure.name: [figure.data, figure.layout] for figure in figures},
        # It is the library's own text, which holds no end of a script.
        plotly=Markup(get_plotlyjs()),
    )


def _about(one: StudiedRun, verdict: Verdict) -> Mapping[str, Any]:
    """Return the content of the page about one run."""
    text = one.run.scenario_path.read_text(encoding="utf-8")
    called = one.run.solver_rounds
    return {
        "name": one.name,
        "contender": one.contender,
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
