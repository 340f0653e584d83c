"""`hpcsched init`: scenarios and packages to start from."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli import PlainGroup
from hpcsched.cli.options import Force

PANEL = "Start"
app = typer.Typer(
    name="init",
    cls=PlainGroup,
    help="Write a scenario or a plugin to start from.",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option(help="The file to write.")]


class Kind(StrEnum):
    """The kinds of starters."""

    LOG = "log"
    SITE = "site"


@app.command()
def scenario(
    kind: Annotated[Kind, typer.Argument(help="The workload: log or site.")] = Kind.LOG,
    out: Out = Path("scenario.yaml"),
    *,
    force: Force = False,
) -> None:
    """Write a commented scenario; the names in it are examples.

    The schema for editors is written beside it.
    """
    from hpcsched.studies.first_look import starter_text

    begin_scenario(starter_text(kind), out, force=force)


@app.command()
def log(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The log, plain or compressed.")],
    out: Out = Path("scenario.yaml"),
    *,
    force: Force = False,
) -> None:
    """Write a commented scenario that replays a log.

    The format, the machine and the policies are those that `hpcsched try` finds. The schema for
    editors is written beside it.
    """
    from hpcsched.studies.first_look import HEADER, text_of_log

    text = text_of_log(log, lambda line: typer.echo(line, err=True))
    begin_scenario(f"{HEADER}{text}", out, force=force)


def begin_scenario(text: str, out: Path, *, force: bool) -> None:
    """Write a starter scenario and the schema beside it, and say so."""
    from hpcsched.studies.first_look import write_starter

    for path in write_starter(text, out, force=force):
        typer.echo(f"wrote {path}")
    typer.echo(f"edit it, then: hpcsched validate {out}")


@app.command()
def plugin(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="Kind of plugin, such as dispatcher.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder; by default hpcsched-NAME."),
    ] = None,
) -> None:
    """Write a package with a new plugin and its tests.

    Kinds are those of `hpcsched plugins list`, with hyphens or underscores, and formulation: a
    dispatcher with a CPMpy model of its own.
    """
    from hpcsched.plugins.new_package import write_package

    folder = Path(f"hpcsched-{name}") if out is None else out
    for path in write_package(kind, name, folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"Next: pip install -e '{folder}[testing]', then pytest in {folder}.")
