"""`hpcsched live`: ask a scenario's dispatcher about a real cluster, or let it place jobs there."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.solver_warning import solver_warning


def live(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO", help="The scenario, which has a 'live:' block.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The run directory; runs/NAME if not given.", show_default=False),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY.PATH=VALUE",
            help="Replace a value of the scenario; can be repeated.",
            show_default=False,
        ),
    ] = None,
    *,
    advise: Annotated[
        bool,
        typer.Option("--advise", help="Show what would start where, and why; change nothing."),
    ] = False,
    drive: Annotated[
        bool, typer.Option("--drive", help="Place held jobs of the scenario's partitions.")
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            metavar="DIR",
            help="Simulate what ran in this live run, and compare start times.",
            show_default=False,
        ),
    ] = None,
    latency: Annotated[
        int,
        typer.Option(min=0, help="Seconds that a round is charged in --replay."),
    ] = 1,
    seconds: Annotated[
        float | None,
        typer.Option("--for", help="End after so many seconds.", min=0, show_default=False),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="End after so many rounds; 1 in --advise if nothing ends it.",
            show_default=False,
        ),
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when no job waits or runs any more.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a run that is in the directory already.")
    ] = False,
) -> None:
    """Ask the dispatcher about a real cluster: advise, drive, or simulate what ran."""
    from hpcsched.live.replay import difference_lines, replay_live
    from hpcsched.live.session import run_live
    from hpcsched.scenario import read_scenario

    if sum((advise, drive, replay is not None)) != 1:
        raise typer.BadParameter("expected one of --advise, --drive and --replay DIR")
    loaded = read_scenario(scenario, overrides or ())
    scenario_ = loaded.scenario
    folder = out or Path("runs") / scenario_.name
    if replay is not None:
        folder = out or Path("runs") / f"{scenario_.name}-replayed"
        found = replay_live(
            scenario, replay, folder, latency=latency, overrides=overrides or (), force=force
        )
        for line in difference_lines(found):
            typer.echo(line)
        return
    if advise and seconds is None and not until_idle:
        rounds = rounds or 1
    directory = run_live(
        scenario_,
        folder,
        drive=drive,
        say=typer.echo,
        seconds=seconds,
        rounds=rounds,
        until_idle=until_idle,
        force=force,
    )
    typer.echo(f"results in {directory.path}")
    warning = solver_warning(loaded, directory)
    if warning is not None:
        typer.echo(warning, err=True)
