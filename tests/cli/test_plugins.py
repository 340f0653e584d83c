"""`hpcsched plugins list` shows what is installed."""

import json
import sys

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
