"""Errors about values of options say what was expected and what was found, and no more."""

import pytest
import typer

from hpcsched.cli import PlainGroup, main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "x", "--by", "bad"], "Invalid value for '--by': 'bad' is not one of"),
        (["compare", "x", "--format", "bad"], "Invalid value for '--format': 'bad' is not one of"),
        (["trace", "fetch"], "Invalid value for NAME: expected the name of a log, or --list"),
        (["try", "x", "--nodes", "y"], "Invalid value for --nodes: expected a number of nodes"),
    ],
)
def test_sentence_alone(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options of a choice, options of commands of their own, and checks of our own."""
    assert main(arguments) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"Error: {said}")
    assert "Value error" not in last


def test_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """The number is told."""
    assert main(["whatif", "x", "--jobs", "many"]) == 2
    assert "many" in capsys.readouterr().err.splitlines()[-1]


def test_a_prefix_without_a_cause(capsys: pytest.CaptureFixture[str]) -> None:
    """Other versions of typer put it in front of a message of their own."""
    app = typer.Typer(cls=PlainGroup, rich_markup_mode=None)

    @app.command()
    def first() -> None:
        raise typer.BadParameter("Value error, expected a name")

    @app.command()
    def second() -> None:
        """Do nothing."""

    with pytest.raises(SystemExit):
        app(["first"])
    assert capsys.readouterr().err.endswith("Error: Invalid value: expected a name\n")
