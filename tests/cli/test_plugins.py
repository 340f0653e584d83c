"""`hpcsched plugins list` shows what is installed, and `new` writes a package."""

import json
import re
import sys
from pathlib import Path

import pytest

from hpcsched import cli


def test_columns_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal there are plain aligned columns."""
    assert cli.main(["plugins", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["kind", "name", "distribution", "version", "summary"]
    assert lines[1].split() == ["trace_source", "file", "fakes", "1.0", "Jobs", "of", "a", "file."]
    assert len({line.index("fakes") for line in lines[1:]}) == 1


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get a list of objects."""
    assert cli.main(["plugins", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {
        "kind": "trace_source",
        "name": "file",
        "distribution": "fakes",
        "version": "1.0",
        "summary": "Jobs of a file.",
    }


def test_a_table_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal gets a table with the same rows."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert cli.main(["plugins", "list"]) == 0
    out = capsys.readouterr().out
    assert "best-of" in out
    assert "───" in out


def test_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files are listed, and what to type next."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "plugin", "queue-order", "fewest-units"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote hpcsched-fewest-units/README.md",
        "wrote hpcsched-fewest-units/pyproject.toml",
        "wrote hpcsched-fewest-units/src/hpcsched_fewest_units/__init__.py",
        "wrote hpcsched-fewest-units/tests/conftest.py",
        "wrote hpcsched-fewest-units/tests/test_hpcsched_fewest_units.py",
        "Next: pip install -e 'hpcsched-fewest-units[testing]', then pytest in"
        " hpcsched-fewest-units.",
    ]
    assert cli.main(["init", "plugin", "queue-order", "fewest-units"]) == 1
    told = capsys.readouterr().err
    assert "hpcsched-fewest-units: error: expected a folder that does not exist yet" in told


def test_new_of_an_unknown_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """One message with the kinds."""
    assert cli.main(["init", "plugin", "scheduler", "mine"]) == 1
    assert "expected a kind of plugin, allocator, correction, dispatcher" in capsys.readouterr().err


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    """Kinds may be hyphenated, and any name will do."""
    assert cli.main(["plugins", "show", "trace-source", "file"]) == 0
    assert capsys.readouterr().out.startswith("trace source file: Jobs of a file.\n")
    assert cli.main(["plugins", "show", "trace_source", "file", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["parameters"]["properties"]["path"]["type"] == "string"


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("brain", "x", "expected a kind of plugin, trace_source, .*; found 'brain'"),
        ("dispatcher", "eazy", "no dispatcher is called 'eazy'; did you mean 'easy'?"),
    ],
)
def test_show_what_there_is_not(
    kind: str, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kinds or a similar name are told."""
    assert cli.main(["plugins", "show", kind, name]) == 1
    assert re.search(message, capsys.readouterr().err)
