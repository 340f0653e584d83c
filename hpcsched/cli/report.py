"""`hpcsched report`: a page about runs, in one file that opens without a network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hpcsched.report.page.page import Verdict
    from hpcsched.results.directory import RunDirectory


def report(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Run directories, or folders that hold them, such as an experiment's.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("report.html"),
    baseline: Annotated[
        str | None,
        typer.Option(
            help="What the others are compared with: a run's name or directory, or what was varied"
            " in an experiment. The first, if not given.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The page's title.")] = "Runs compared",
    *,
    verify: Annotated[
        bool,
        typer.Option(help="Audit every run as `verify` does, which reads its trace again."),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is there already.")
    ] = False,
) -> None:
    """Write a page about runs: tables, pictures to zoom, what was run, and each audit's verdict."""
    from hpcsched.report.compared_study import ComparedStudy
    from hpcsched.report.figures.picture_files import check_free, write_bytes
    from hpcsched.report.page.page import Verdict, check_installed, write_page
    from hpcsched.report.studied_runs import open_study
    from hpcsched.report.tables.run_comparison import compare_runs

    check_installed()
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
    """Audit a run; one that cannot be audited, as its trace is gone, is not checked."""
    from hpcsched.cli.auditing import audit_directory
    from hpcsched.errors import HpcschedError
    from hpcsched.report.page.page import Verdict
    from hpcsched.report.tables.audit_lines import audit_lines

    try:
        found = audit_directory(run)
    except HpcschedError as error:
        return Verdict("not checked", (str(error),))
    return Verdict("ok" if found.ok else "not ok", tuple(audit_lines(found)))
