"""`hpcsched report`: an HTML page about runs, in one file that needs no network."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import Baseline, ByClass, Force, Recorded, SeveralRuns

PANEL = "Look"


def report(
    directories: SeveralRuns,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    baseline: Baseline = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Runs compared",
    by: ByClass = None,
    *,
    recorded: Recorded = False,
    verify: Annotated[
        bool, typer.Option(help="Audit every run, which reads its trace again.")
    ] = True,
    force: Force = False,
) -> None:
    """Write an HTML page about runs, with tables and figures.

    The page is one file that needs no network. It holds the scenarios, the tables of `compare`,
    figures to zoom, and the verdict of an audit of each run. Metrics by class of jobs are of the
    classes in --by; by default of all that tell jobs apart.
    """
    from hpcsched.report.job_classes import class_kinds
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.studying import compare_study, study_page
    from hpcsched.whole_files import check_target, make_folder, write_text

    # Before the runs are read and audited, which may take minutes.
    check_target(out, force=force)
    kinds = class_kinds(by) if by else None
    found = compare_study(
        open_study(directories), baseline=baseline, kinds=kinds, recorded=recorded
    )
    page = study_page(found, title=title, verify=verify)
    make_folder(out.parent)
    write_text(out, page.html)
    for warning in page.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if page.not_ok:
        typer.echo(f"warning: the audit does not say ok: {', '.join(page.not_ok)}", err=True)
    typer.echo(f"wrote {out}")
