"""What the command line does about errors, and how fast it is there."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from hpcsched import __version__, cli
from hpcsched.errors import DecisionError, Finding, InputError, Place, PluginError


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            InputError([Finding("r", "first", Place("f", 1, 2)), Finding("s", "second")]),
            1,
            "f:1:2: error: first [r]\nerror: second [s]\n",
        ),
        (PluginError("plugin x is broken"), 1, "error: plugin x is broken\n"),
        (DecisionError("easy, round 3: no"), 3, "error: easy, round 3: no\n"),
        (
            KeyError("a\nb"),
            3,
            "internal error: KeyError: 'a\\nb'; set HPCSCHED_DEBUG=1 for the traceback\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_end_in_one_line_and_a_code(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each kind of error has its exit code, and none a traceback."""

    def fail(**_: object) -> None:
        raise error

    monkeypatch.delenv(cli.DEBUG, raising=False)
    monkeypatch.setattr(cli, "get_command", lambda _: fail)
    assert cli.main([]) == code
    assert capsys.readouterr() == ("", line)


def test_the_traceback_of_an_internal_error_can_be_had(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With HPCSCHED_DEBUG=1 the traceback comes before the line."""

    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv(cli.DEBUG, "1")
    monkeypatch.setattr(cli, "get_command", lambda _: fail)
    assert cli.main([]) == 3
    assert capsys.readouterr().err.startswith("Traceback")


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["validate"], ["diff", "a"], ["plugins"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong command line exits with 2 and says how it is used."""
    assert cli.main(arguments) == 2
    assert "Usage: hpcsched" in "".join(capsys.readouterr())


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` prints name and version."""
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"hpcsched {__version__}\n"


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command and group below `hpcsched` with its name."""

    def within(group: Any, words: str) -> Iterator[tuple[str, Any]]:
        for name, command in getattr(group, "commands", {}).items():
            yield f"{words}{name}", command
            yield from within(command, f"{words}{name} ")

    yield from within(typer.main.get_command(cli.app), "")


@pytest.mark.parametrize("name", cli.commands())
def test_the_table_has_the_summary(name: str) -> None:
    """What `hpcsched --help` says without importing a command is what the command says."""
    _, _, summary = cli.commands()[name]
    assert dict(commands())[name].help.partition("\n\n")[0] == summary


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command and each of its parameters says in one short line what it is for."""
    command = dict(commands())[name]
    summary = command.help.partition("\n\n")[0]
    assert len(summary) <= 60
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and parameter.name != "help":
            assert 0 < len(parameter.help) <= 70
    *group, last = name.split()
    assert cli.main([*group, "-h"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert f" {last} {summary}" in listed
    assert cli.main([*group, last, "--help"]) == 0
    assert summary in " ".join(capsys.readouterr().out.split())


def test_one_grammar() -> None:
    """Formats are chosen by `--format`, files and folders written by `--out`, in every command."""
    for name, command in commands():
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        names = {option for parameter in shown for option in parameter.opts}
        assert not names & {"--json", "--csv", "--to-file", "--output", "--folder"}, name
        for parameter in shown:
            words = parameter.help.lower() if parameter.name != "help" else ""
            if words.startswith(("the file to write", "the folder to write", "write to")):
                assert parameter.opts == ["--out"], name


def test_help_imports_nothing_heavy() -> None:
    """`hpcsched --help` is there at once, since what is heavy is imported when it is needed."""
    heavy = ["numpy", "yaml", "rich", "pyarrow", "hpcsched.scenario"]
    code = (
        "import sys, hpcsched.cli; hpcsched.cli.main(['--help']);"
        f" print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
