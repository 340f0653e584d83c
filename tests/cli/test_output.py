"""Output of commands: tables in each format, in a file or not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hpcsched import cli
from hpcsched.cli.options import TableFormat, emit, json_text, tables_text
from hpcsched.errors import InputError
from hpcsched.report.tables.report_table import Table

TABLES = [
    Table(("run", "wait [s]"), [("a", 7.5)], name, name.capitalize())
    for name in ("first", "second")
]


def content() -> dict[str, str]:
    """Return what the JSON format has."""
    return {"name": "Zürich"}


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("text", "First\n\nrun  wait [s]\na         7.5\n\nSecond"),
        (
            "markdown",
            "## First\n\n| run | wait [s] |\n| --- | ---: |\n| a | 7.5 |\n\n## Second",
        ),
        ("csv", "run,wait [s]\na,7.5\n\nrun,wait [s]"),
        ("json", '{\n  "name": "Zürich"\n}'),
    ],
)
def test_formats(format_: TableFormat, text: str) -> None:
    """One table after the other; JSON has the content alone."""
    assert tables_text(TABLES, format_, content, out=Path("file")).startswith(text)


def test_json_keeps_the_order_of_keys() -> None:
    """And letters as they are."""
    assert list(json.loads(json_text({"b": "ü", "a": 1}))) == ["b", "a"]
    assert "ü" in json_text({"b": "ü"})


def test_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file ends with a line."""
    emit("text")
    assert capsys.readouterr().out == "text\n"
    emit("text", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "text\n"
    assert capsys.readouterr().out == f"wrote {tmp_path / 'out'}\n"
    with pytest.raises(InputError, match="it is there already"):
        emit("other", tmp_path / "out")
    emit("other", tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "other\n"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """It is named, with the reason."""
    with pytest.raises(InputError, match=r"none/out: error: it cannot be written: No such"):
        emit("text", tmp_path / "none" / "out")


RESUMED = {"run", "try", "tune", "whatif", "experiment", "fetch", "plugin"}
"""Commands whose --out is a folder that is gone on with, or must not be there."""


def _commands(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        yield from _commands(command) if hasattr(command, "commands") else (command,)


def test_files_are_replaced_by_force_alone() -> None:
    """Each command that writes a file has --force, which is said once and alike."""
    writers = 0
    for command in _commands(typer.main.get_command(cli.app)):
        options = {option for one in command.params for option in one.opts}
        if "--out" in options and command.name not in RESUMED:
            writers += 1
            assert "--force" in options, command.name
    assert writers > 20


@pytest.mark.parametrize("order", [["--out", "a.json", "--force"], ["--force", "--out", "a.json"]])
def test_an_output_that_is_there(
    order: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused before anything is done, whatever stands first; --force replaces it."""
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text("mine")
    refused = CliRunner().invoke(cli.app, ["trace", "presets", "--out", "a.json"])
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception).startswith("a.json: error: it is there already; ")
    assert Path("a.json").read_text() == "mine"
    done = CliRunner().invoke(cli.app, ["trace", "presets", "--format", "json", *order])
    assert done.output == "wrote a.json\n"
    assert json.loads(Path("a.json").read_text())
