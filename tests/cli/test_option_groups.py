"""Commands whose options are grouped in dataclasses."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from hpcsched.cli.options import with_option_groups


@dataclass(frozen=True)
class Size:
    """The options of a machine."""

    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 1
    cores: Annotated[int, typer.Option(min=1, help="Cores of each.")] = 8


@dataclass(frozen=True)
class Tone:
    """The options of what is printed."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print less.")] = False


@with_option_groups
def show(name: str, *, size: Size, loud: bool = False, tone: Tone) -> None:
    """Print a machine."""
    typer.echo(f"{name}: {size.nodes} x {size.cores}, loud {loud}, quiet {tone.quiet}")


APP = typer.Typer()
APP.command()(show)


def said(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the text of a call."""
    result = CliRunner().invoke(APP, arguments)
    return result.exit_code, result.output


def test_fields_are_options_with_their_defaults() -> None:
    """A field that is not given has its default, beside options that are in no group."""
    assert said("small") == (0, "small: 1 x 8, loud False, quiet False\n")
    given = said("big", "--cores", "4", "-q", "--loud", "--nodes", "100")
    assert given == (0, "big: 100 x 4, loud True, quiet True\n")


def test_options_are_in_the_order_of_the_fields() -> None:
    """The help shows a group where the command has it."""
    code, text = said("--help")
    places = [text.index(option) for option in ("--nodes", "--cores", "--loud", "--quiet")]
    assert (code, places) == (0, sorted(places))


def test_limits_of_an_option_hold() -> None:
    """The declaration of a field is typer's."""
    code, text = said("small", "--cores", "0")
    assert code == 2
    assert "--cores" in text


def test_a_call_from_python_names_the_fields() -> None:
    """Another command calls one as typer does."""
    show("small", nodes=2)
