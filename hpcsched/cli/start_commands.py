"""`hpcsched try` and `hpcsched init`: a log without a scenario, and files to start from."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from hpcsched.cli import PlainGroup, options
from hpcsched.errors import FORCE
from hpcsched.plugins.new_package import write_package
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.fidelity import known_fidelity
from hpcsched.report.studied_runs import open_study
from hpcsched.report.studying import compare_study
from hpcsched.report.tables.run_account import account_of_jobs
from hpcsched.report.tables.study_tables import answer
from hpcsched.studies import first_look
from hpcsched.whole_files import file_error

COMMANDS = {
    "init": ("Start", "Write a scenario or a plugin to start from."),
    "try": ("Start", "Replay a log under several dispatchers, without a scenario."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""


def try_(
    log: Annotated[
        Path | None, typer.Argument(metavar="LOG", help="The log, plain or compressed.")
    ] = None,
    *,
    dispatchers: Annotated[
        str, typer.Option(metavar="NAMES", help="Dispatchers or queue orders, by commas.")
    ] = "easy,sjf,order-search",
    objective: Annotated[
        str | None, typer.Option(help="The objective; bounded_slowdown by default.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="The number of jobs, the first ones; 0: all.")
    ] = 5000,
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="N[xCORES]", help="The machine: 256, or 32x8 for 32 nodes of 8 cores."
        ),
    ] = None,
    conf: Annotated[
        Path | None, typer.Option(help="Configuration of the site: it is replayed as it is, too.")
    ] = None,
    assoc: Annotated[
        list[Path] | None, typer.Option(help="Tables of the site's accounts; repeatable.")
    ] = None,
    preset: options.Preset = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE", help="Time zone of local times, such as Europe/Paris; UTC by default."
        ),
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Add the log's own schedule.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write scenarios and runs into this folder.")
    ] = None,
    force: options.Force = False,
    example: Annotated[
        bool, typer.Option("--example", help="Try the log that comes with hpcsched.")
    ] = False,
    format_: options.TableFormatOption = "text",
) -> None:
    """Replay a log under several dispatchers, without a scenario.

    The format is recognised by the log's content, and the machine taken from its header. Each run
    is audited. Exits with 1 if an audit finds a violation.
    """
    if (log is None) == (not example):
        raise typer.BadParameter("expected a log, or --example")
    # Runs of another log beside these would be compared with them.
    if save is not None and not force and save.is_dir() and any(save.iterdir()):
        message = f"it is not empty; {FORCE} writes into it all the same"
        raise file_error("file-exists", save, message)
    names = [name.strip() for name in dispatchers.split(",") if name.strip()]
    if conf is None and assoc:
        raise typer.BadParameter("expected --conf beside --assoc")
    if conf is not None and nodes is not None:
        raise typer.BadParameter("expected --conf or --nodes, found both")
    look = first_look.look_at(
        first_look.example_log() if log is None else log,
        names,
        objective=objective,
        jobs=jobs or None,
        machine=_machine(nodes),
        preset=preset,
        zone=time_zone,
        site=[] if conf is None else [conf, *(assoc or ())],
    )
    as_text = format_ == "text"
    # What is told on the way is no part of a table that another program reads.
    for line in first_look.look_lines(look):
        typer.echo(line, err=not as_text)
    with TemporaryDirectory() if save is None else nullcontext(save) as folder:

        def begun(label: str) -> None:
            typer.echo(f"{label} ...", err=True)

        tried = list(first_look.try_dispatchers(look, Path(folder), begun=begun))
        audits = {label: run.verify() for label, run in tried}
        bad = {label: audit for label, audit in audits.items() if not audit.ok}
        runs = open_study([run.directory.path for _, run in tried])
        found = compare_study(runs, recorded=recorded)
        if as_text:
            typer.echo("\n".join(account_of_jobs(tried[0][1].summary)) + "\n")
        typer.echo(options.tables_text([found.metrics], format_, found.content))
        if as_text:
            typer.echo("\n" + "\n".join(answer(found.study, bad, found.comparison)))
            known = known_fidelity(ComparedStudy(runs)) if conf else ""
            if not isinstance(known, str):
                typer.echo("\n".join(known.lines()))
    options.warn(*look.machine.left_out, *found.warnings)
    for label, audit in bad.items():
        for line in audit.lines():
            typer.echo(f"{label}: {line}", err=True)
    if as_text:
        _tell_next(save, tried[0][0])
    if bad:
        raise typer.Exit(1)


def _machine(text: str | None) -> tuple[int, int | None] | None:
    """Return the number of nodes and the cores per node, None if not given."""
    if text is None:
        return None
    nodes, x, cores = text.partition("x")
    if not nodes.isdecimal() or not int(nodes) or (x and not (cores.isdecimal() and int(cores))):
        message = f"expected a number of nodes, such as 256, or 32x8; found {text!r}"
        raise typer.BadParameter(message, param_hint="--nodes")
    return int(nodes), int(cores) if x else None


def _tell_next(save: Path | None, first: str) -> None:
    """Print the next commands."""
    if save is not None:
        typer.echo(f"scenarios and runs in {save}: hpcsched run {save / first}.yaml")
        page = save / "report.html"
        typer.echo(f"a page with figures: hpcsched report {save / 'runs'} --out {page}")
    else:
        typer.echo("to keep these scenarios and runs, add --save DIR")


init = typer.Typer(
    cls=PlainGroup, help="Write a scenario or a plugin to start from.", no_args_is_help=True
)


@init.command()
def scenario(
    kind: Annotated[
        Literal["log", "site"], typer.Argument(help="The workload: log or site.")
    ] = "log",
    out: options.NewFile = Path("scenario.yaml"),
    *,
    force: options.Force = False,
) -> None:
    """Write a commented scenario; the names in it are examples.

    The schema for editors is written beside it.
    """
    begin_scenario(first_look.starter_text(kind), out, force=force)


@init.command()
def log(
    log: options.LogFile,
    out: options.NewFile = Path("scenario.yaml"),
    *,
    force: options.Force = False,
) -> None:
    """Write a commented scenario that replays a log.

    The format, the machine and the policies are those that `hpcsched try` finds. The schema for
    editors is written beside it.
    """
    text = first_look.text_of_log(log, partial(typer.echo, err=True))
    begin_scenario(f"{first_look.HEADER}{text}", out, force=force)


@init.command()
def examples(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder.")] = Path(
        "scenarios"
    ),
    force: options.Force = False,
) -> None:
    """Write the scenarios and logs that come with hpcsched.

    They are those of the project's folder, with which the pages of its documentation begin.
    """
    count = first_look.write_examples(out, force=force)
    typer.echo(f"wrote {count} files into {out}: hpcsched run {out / 'small-easy.yaml'}")


def begin_scenario(text: str, out: Path, *, force: bool) -> None:
    """Write a starter scenario and the schema beside it, and say so."""
    for path in first_look.write_starter(text, out, force=force):
        typer.echo(f"wrote {path}")
    typer.echo(f"edit it, then: hpcsched validate {out}")


@init.command()
def plugin(
    kind: options.PluginKind,
    name: options.PluginName,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder; by default hpcsched-NAME."),
    ] = None,
) -> None:
    """Write a package with a new plugin and its tests.

    Kinds are those of `hpcsched plugins list`, with hyphens or underscores, and formulation: a
    dispatcher with a CPMpy model of its own.
    """
    folder = Path(f"hpcsched-{name}") if out is None else out
    for path in write_package(kind, name, folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"Next: pip install -e '{folder}[testing]', then pytest in {folder}.")
