"""`hpcsched tune`: parameters searched on a part of a log, and judged on a later part."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.options import Overrides, ScenarioFile
from hpcsched.cli.output import DataFormat, DataFormatOption, json_text

if TYPE_CHECKING:
    from hpcsched.studies.tuning import TunedScenario
    from hpcsched.studies.tuning_study import Trial, TuningStudy

PANEL = "Study"


def tune(
    scenario: ScenarioFile,
    *,
    space: Annotated[Path, typer.Option(metavar="FILE", help="The tuning file with the ranges.")],
    out: Annotated[
        Path | None, typer.Option(help="The study's folder; runs/NAME by default.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Number of trials; the file's by default.")
    ] = None,
    format_: DataFormatOption = DataFormat.TEXT,
    overrides: Overrides = None,
) -> None:
    """Search parameters on first jobs; judge them on later ones.

    The folder keeps the trials, so that a search that was stopped goes on; tuning.json; and
    best.yaml, the scenario with the best values.
    """
    from hpcsched.scenario.resolved import resolved_yaml
    from hpcsched.studies.tuning import TunedScenario
    from hpcsched.studies.tuning_text import (
        later_table,
        trials_table,
        tuning_content,
        verdict_lines,
    )
    from hpcsched.whole_files import write_text

    tuned = TunedScenario(scenario, space, overrides or ())
    folder = out or Path("runs") / tuned.name
    study = _search(tuned, folder, trials)
    best = tuned.base if study.best is None else tuned.with_values(study.best.values)
    content = json_text(tuning_content(study))
    write_text(folder / "tuning.json", f"{content}\n")
    write_text(folder / "best.yaml", resolved_yaml(best))
    if format_ is DataFormat.JSON:
        typer.echo(content)
    else:
        tables = [trials_table(study), later_table(study)]
        parts = [table.as_text() for table in tables if table.rows]
        typer.echo("\n\n".join([*parts, "\n".join(verdict_lines(study))]))
        typer.echo(f"trials and best.yaml in {folder}")


def _search(tuned: "TunedScenario", folder: Path, trials: int | None) -> "TuningStudy":
    from hpcsched.runs.folder_lock import locked_folder
    from hpcsched.studies.tuning_study import tune

    wanted = trials or tuned.space.trials

    def tell(trial: "Trial") -> None:
        value = "failed" if trial.objective is None else f"{trial.objective:.6g}"
        kept = "" if trial.keeps_constraints else ", a constraint is exceeded"
        typer.echo(f"[{trial.number + 1}/{wanted}] {value}{kept}", err=True)

    try:
        with locked_folder(folder):
            return tune(tuned, folder, trials=trials, ended=tell)
    except KeyboardInterrupt:
        typer.echo("interrupted; started again, it goes on from here", err=True)
        raise typer.Exit(130) from None
