"""Output of commands: tables in each format, in a file or not."""

import json
from pathlib import Path

import pytest

from hpcsched.cli.output import TableFormat, emit, json_text, tables_text
from hpcsched.errors import InputError
from hpcsched.report.tables.report_table import Table

TABLES = [
    Table(name, name.capitalize(), (("run", ""), ("wait", "s")), (("a", 7.5),))
    for name in ("first", "second")
]


def content() -> dict[str, str]:
    """Return what the JSON format has."""
    return {"name": "Zürich"}


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        (TableFormat.TEXT, "First\n\nrun  wait [s]\na         7.5\n\nSecond"),
        (
            TableFormat.MARKDOWN,
            "## First\n\n| run | wait [s] |\n| --- | ---: |\n| a | 7.5 |\n\n## Second",
        ),
        (TableFormat.CSV, "run,wait [s]\na,7.5\n\nrun,wait [s]"),
        (TableFormat.JSON, '{\n  "name": "Zürich"\n}'),
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
    assert capsys.readouterr().out == ""


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """It is named, with the reason."""
    with pytest.raises(InputError, match=r"none/out: error: it cannot be written: No such"):
        emit("text", tmp_path / "none" / "out")
