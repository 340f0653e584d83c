"""Page of a study of variants: findings, a figure, tables, and details of variants."""

from hpcsched.report.job_classes import KINDS
from hpcsched.report.page.html_pages import render
from hpcsched.report.page.page import PAGE_WIDTH, interactive
from hpcsched.report.tables.report_table import Table
from hpcsched.studies.whatif.differences import COMPARED
from hpcsched.studies.whatif.whatif_figure import differences_figure
from hpcsched.studies.whatif.whatif_study import Variant, WhatIfStudy
from hpcsched.studies.whatif.whatif_tables import (
    class_table,
    differences_table,
    gains_table,
    variants_table,
    verdict_lines,
)

MOST_DETAILED = 10
"""Number of variants with details, the best by the objective."""


def whatif_page(study: WhatIfStudy) -> str:
    """Return the page of a study as HTML, the same for the same outcomes."""
    figures = [differences_figure(study, quantity, PAGE_WIDTH) for quantity in COMPARED]
    detailed = study.variants[:MOST_DETAILED]
    return render(
        "whatif.html",
        "hpcsched.studies.whatif",
        title=study.whatif.name,
        verdict=verdict_lines(study),
        objective=study.objective,
        figures=figures,
        drawings={figure.name: interactive(figure.chart, ()) for figure in figures},
        tables=[variants_table(study), differences_table(study)],
        details=[(one.name, one.changes, _details(study, one)) for one in detailed],
        left_out=len(study.variants) - len(detailed),
    )


def _details(study: WhatIfStudy, variant: Variant) -> list[Table]:
    tables = [class_table(study, kind, [variant]) for kind in KINDS]
    # A class that holds all jobs says what the tables above say.
    return [gains_table(study, variant), *(one for one in tables if len(one.rows) > len(COMPARED))]
