"""`hpcsched report`: an HTML page about runs, in one file that needs no network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.shared_options import Baseline, Force, SeveralRuns

if TYPE_CHECKING:
    from hpcsched.report.page.page import Verdict
    from hpcsched.results.directory import RunDirectory


def report(
    directories: SeveralRuns,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    baseline: Baseline = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Runs compared",
    *,
    verify: Annotated[
        bool,
        typer.Option(help="Audit every run, which reads its trace again."),
    ] = True,
    force: Force = False,
) -> None:
    """Write an HTML page about runs, with tables and figures.

    The page is one file that needs no network. It holds the scenarios, the tables of `compare`,
    figures to zoom, and the verdict of an audit of each run.
    """
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.figure_files import check_free, write_bytes
    from hpcsched.report.page.page import Verdict, write_page
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.tables.run_comparison import compare_runs

    # Before the runs are read and audited, which may take minutes.
    check_free(out, force=force)
    study = open_study(directories)
    compared = ComparedStudy(study, baseline)
    comparison = compare_runs(compared)
    verdicts = {
        one.name: _verdict(one.run) if verify else Verdict("not checked", ()) for one in study.runs
    }
    warnings = (*study.warnings, *comparison.warnings)
    page = write_page(compared, comparison, verdicts, title=title, warnings=warnings)
    write_bytes(out, page.encode())
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    bad = [name for name, verdict in verdicts.items() if verdict.word != "ok"]
    if verify and bad:
        typer.echo(f"warning: the audit does not say ok: {', '.join(bad)}", err=True)
    typer.echo(f"wrote {out}")


def _verdict(run: "RunDirectory") -> "Verdict":
    """Audit a run; the verdict is `not checked` if it cannot be audited, as without its trace."""
    from hpcsched.errors import HpcschedError
    from hpcsched.report.page.page import Verdict
    from hpcsched.report.tables.audit_lines import audit_lines
    from hpcsched.runs.auditing import audit_directory

    try:
        found = audit_directory(run)
    except HpcschedError as error:
        return Verdict("not checked", (str(error),))
    return Verdict("ok" if found.ok else "not ok", tuple(audit_lines(found)))
