"""`hpcsched whatif`: variants of a scenario on the same log, compared job by job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.options import ByClass, Overrides, ScenarioFile
from hpcsched.cli.output import TableFormat, TableFormatOption, json_text, tables_text

if TYPE_CHECKING:
    from hpcsched.report.tables.report_table import Table
    from hpcsched.studies.whatif import WhatIf
    from hpcsched.studies.whatif_study import WhatIfFolder, WhatIfStudy

PANEL = "Study"


def whatif(
    scenario: ScenarioFile,
    *,
    vary: Annotated[Path, typer.Option(metavar="FILE", help="The file with the variants.")],
    out: Annotated[
        Path | None, typer.Option(help="The study's folder; runs/NAME by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of replays at a time.")] = None,
    by: ByClass = None,
    format_: TableFormatOption = TableFormat.TEXT,
    overrides: Overrides = None,
) -> None:
    """Compare variants of a scenario on the same log, job by job.

    The folder gets the page whatif.html, the tables as whatif.json, and the outcome of each
    variant; outcomes that are there are kept. Exits with 1 if a variant fails.
    """
    from hpcsched.report.job_classes import class_kinds
    from hpcsched.studies.whatif import read_whatif
    from hpcsched.studies.whatif_report import (
        class_table,
        differences_table,
        variants_table,
        verdict_lines,
        whatif_page,
    )
    from hpcsched.studies.whatif_study import WhatIfFolder, read_study
    from hpcsched.whole_files import write_text

    read = read_whatif(scenario, vary, overrides or ())
    folder = WhatIfFolder(out or Path("runs") / read.name)
    with folder.locked():
        failed = _replay(read, folder, jobs)
        study = read_study(read, folder)
        tables = [variants_table(study), differences_table(study)]
        tables += [class_table(study, kind, study.variants) for kind in class_kinds(by or ())]
        content = json_text(_content(study, tables))
        write_text(folder.path / "whatif.json", f"{content}\n")
        write_text(folder.path / "whatif.html", whatif_page(study))
    typer.echo(tables_text(tables, format_, lambda: _content(study, tables)))
    if format_ is TableFormat.TEXT:
        typer.echo("\n" + "\n".join(verdict_lines(study)))
        typer.echo(f"page and tables in {folder.path}")
    if failed:
        typer.echo(f"{failed} of {len(read.cells)} replays failed", err=True)
        raise typer.Exit(1)


def _replay(read: "WhatIf", folder: "WhatIfFolder", jobs: int | None) -> int:
    """Replay the cells without an outcome; return the number of failures."""
    from hpcsched.studies.progress import CellProgress
    from hpcsched.studies.whatif_study import replay_cells

    failed = 0
    try:
        with CellProgress(read.name, len(read.cells)) as progress:
            for outcome in replay_cells(read.cells, folder, limit=jobs):
                progress.ended(outcome)
                failed += outcome.status == "failed"
    except KeyboardInterrupt:
        typer.echo("interrupted; started again, it goes on from here", err=True)
        raise typer.Exit(130) from None
    return failed


def _content(study: "WhatIfStudy", tables: "list[Table]") -> dict[str, Any]:
    from hpcsched.studies.whatif_report import verdict_lines

    return {
        "name": study.whatif.name,
        "scenario": study.whatif.scenario,
        "objective": study.objective,
        "verdict": verdict_lines(study),
        "tables": {table.name: table.content() for table in tables},
    }
