"""`hpcsched schema` prints the schema of what is installed."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.scenario.scenario_schema import scenario_schema
from tests.fake_plugins import fake_registry


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --out the schema goes to stdout."""
    assert cli.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == scenario_schema(fake_registry())


def test_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --out the schema goes to a file, which is told."""
    path = tmp_path / "schema.json"
    assert cli.main(["schema", "--out", str(path)]) == 0
    assert json.loads(path.read_text("utf-8")) == scenario_schema(fake_registry())
    assert capsys.readouterr().out == f"wrote {path}\n"


def test_a_folder_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be written is one line."""
    assert cli.main(["schema", "--out", "none/schema.json"]) == 1
    assert capsys.readouterr().err == (
        "none/schema.json: error: it cannot be written: No such file or directory [cannot-write]\n"
    )
