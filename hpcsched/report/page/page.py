"""The report page: tables and interactive figures of runs in one HTML file.

One can zoom, read values off, and hide configurations. jinja2 escapes text from scenarios and
traces.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import JobBreakdown
from hpcsched.report.page.html_pages import render
from hpcsched.report.page.page_figures import interactive, page_figures
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.breakdown_table import breakdown_table
from hpcsched.report.tables.comparison_table import comparison_table
from hpcsched.report.tables.run_comparison import Comparison
from hpcsched.report.tables.study_answer import answer
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.solver_rounds import in_words

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

    Raises
    ------
    InputError
        A file of a run is damaged.
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
