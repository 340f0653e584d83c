"""Commands that other distributions add to the command line."""

import sys

import pytest

from hpcsched import cli
from tests.plugins.distributions import Distributions

ADDS = """
    from hpcsched import Command, hookimpl

    @hookimpl
    def hpcsched_commands():
        yield Command({name!r}, {made_by!r})
"""
GREET = """
import typer

def greet(name: str) -> None:
    "Greet somebody."
    typer.echo(f"hello {name}")

group = typer.Typer(help="Greet in several ways.")
group.command()(greet)

@group.command()
def leave() -> None:
    "Say good-bye."
"""


@pytest.fixture
def greeter(distributions: Distributions, monkeypatch: pytest.MonkeyPatch) -> Distributions:
    """The folder holds a module of commands, which is not imported yet."""
    (distributions.folder / "greetings.py").write_text(GREET)
    monkeypatch.delitem(sys.modules, "greetings", raising=False)
    return distributions


def test_a_command(greeter: Distributions, capsys: pytest.CaptureFixture[str]) -> None:
    """It is listed and run; its module is imported only then."""
    greeter.install("polite", "1", ADDS.format(name="greet", made_by="greetings:greet"))
    assert cli.main(["plugins", "list"]) == 0
    assert "greetings" not in sys.modules
    capsys.readouterr()
    assert cli.main(["greet", "you"]) == 0
    assert capsys.readouterr().out == "hello you\n"
    assert cli.main(["--help"]) == 0
    assert "Greet somebody." in capsys.readouterr().out


def test_a_group(greeter: Distributions, capsys: pytest.CaptureFixture[str]) -> None:
    """A group of commands is called by the name of the command."""
    greeter.install("polite", "1", ADDS.format(name="manners", made_by="greetings:group"))
    assert cli.main(["manners", "greet", "you"]) == 0
    assert capsys.readouterr().out == "hello you\n"


def test_a_command_of_a_group(greeter: Distributions, capsys: pytest.CaptureFixture[str]) -> None:
    """A name of two words is a command of a group that hpcsched has."""
    greeter.install("polite", "1", ADDS.format(name="trace greet", made_by="greetings:greet"))
    assert cli.main(["trace", "greet", "you"]) == 0
    assert capsys.readouterr().out == "hello you\n"
    assert cli.main(["trace", "--help"]) == 0
    assert "Greet somebody." in capsys.readouterr().out
    assert cli.main(["greet"]) == 2


def test_a_command_that_cannot_be_imported(
    greeter: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the distribution and the command; other commands work."""
    greeter.install("polite", "1", ADDS.format(name="greet", made_by="greetings:nothing"))
    assert cli.main(["greet"]) == 1
    assert capsys.readouterr().err == (
        "error: plugin polite 1: the command 'greet' cannot be loaded: greetings:nothing:"
        " AttributeError: module 'greetings' has no attribute 'nothing'\n"
    )
    assert cli.main(["plugins", "list"]) == 0


@pytest.mark.parametrize("name", ["run", "trace info"])
def test_a_name_that_hpcsched_has(
    name: str, greeter: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """Built-in commands cannot be replaced."""
    greeter.install("polite", "1", ADDS.format(name=name, made_by="greetings:greet"))
    assert cli.main([*name.split()[:-1], "--help"]) == 1
    assert f"polite 1 adds the command {name!r}, which hpcsched has" in capsys.readouterr().err


def test_a_name_that_two_add(greeter: Distributions, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are named."""
    for name in ("polite", "rude"):
        greeter.install(name, "1", ADDS.format(name="greet", made_by="greetings:greet"))
    assert cli.main(["greet"]) == 1
    assert "plugin clash: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("yield 3", "hpcsched_commands must return hpcsched.Command objects, found int"),
        ("yield Command('A b', 'm:f')", "expected one or two words as name, found 'A b'"),
    ],
)
def test_what_is_no_command(
    hook: str, message: str, greeter: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer of the hook is checked."""
    source = "from hpcsched import Command, hookimpl\n@hookimpl\ndef hpcsched_commands():\n    "
    greeter.install("odd", "1", source + hook)
    assert cli.main(["greet"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["live", "trace system-from", "init site"])
@pytest.mark.usefixtures("distributions")
def test_a_command_of_a_package_that_is_not_installed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says which package has it."""
    assert cli.main([*name.split(), "scenario.yaml"]) == 2
    assert f"{name!r} is not installed; pip install 'hpcsched[slurm]'" in capsys.readouterr().err
