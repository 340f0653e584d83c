"""The commands: what they print, and one message for what is wrong."""

import json
import sys

import pytest

from hpcsched import cli
from tests.studies.problems.samples import SMALL, tiny
from tests.studies.problems.tables import pair

INSTANCES = ("trace", "instances")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    """Run commands in a folder of the test's own, which has a small scenario."""
    tiny(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_the_three_in_a_row(tmp_path, capsys):
    """Record, solve under two scenarios, compare."""
    arguments = [*INSTANCES, "record", str(SMALL), "--set", "trace.jobs=300"]
    assert cli.main([*arguments, "--out", "q.jsonl.gz", "--every", "3", "--limit", "20"]) == 0
    size = (tmp_path / "q.jsonl.gz").stat().st_size
    assert capsys.readouterr() == (
        "wrote q.jsonl.gz: 20 of 58 matching dispatching problems saved, 58 rounds seen,"
        f" {size} bytes\n",
        "",
    )
    scenarios = [str(SMALL), str(SMALL.with_name("small-sjf.yaml"))]
    assert cli.main([*INSTANCES, "solve", "q.jsonl.gz", *scenarios, "--out", "s"]) == 0
    assert capsys.readouterr() == (
        "wrote s/small-easy.parquet: 20 dispatching problems solved by small-easy\n"
        "wrote s/small-sjf.parquet: 20 dispatching problems solved by small-sjf\n",
        "",
    )
    tables = ["s/small-easy.parquet", "s/small-sjf.parquet"]
    assert cli.main([*INSTANCES, "compare", *tables]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("20 dispatching problems of small-easy (SHA-256 ")
    assert err == ""
    assert cli.main([*INSTANCES, "compare", *tables, "--format", "json", "--same-time", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    content = json.loads(out)
    assert content["problems"] == 20
    assert list(content["tables"]) == ["ratios", "objectives", "groups", "totals"]
    assert (content["b"]["name"], content["b"]["dispatcher"]["name"]) == ("small-sjf", "list")
    assert any("by at most 50 %" in note for note in content["tables"]["totals"]["notes"])


def test_overrides_and_sizes(capsys):
    """Each scenario is changed by --set; problems are chosen by their queue."""
    assert cli.main([*INSTANCES, "record", "tiny.yaml", "--out", "x", "--min-queued", "2"]) == 0
    assert capsys.readouterr().out.startswith("wrote x: 4 of 4 matching ")
    solve = [
        "trace",
        "instances",
        "solve",
        "x",
        "tiny.yaml",
        "--out",
        "s",
        "--set",
        "dispatcher=list",
    ]
    assert cli.main([*solve, "--set", "name=other", "--limit", "1"]) == 0
    assert (
        capsys.readouterr().out == "wrote s/other.parquet: 1 dispatching problems solved by other\n"
    )
    assert cli.main([*INSTANCES, "compare", "s/other.parquet", "s/other.parquet"]) == 0


def test_on_a_terminal(capsys, monkeypatch, tmp_path):
    """Tables are drawn within the width."""
    pair(tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "90")
    assert cli.main([*INSTANCES, "compare", "a.parquet", "b.parquet"]) == 0
    assert "───" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "none.yaml", "--out", "y"], "none.yaml: error: the file cannot be read: "),
        (["record", "tiny.yaml", "--out", "log.swf"], "log.swf: error: it is there already; "),
        (["record", "tiny.yaml", "--out", "no/y"], "no/y: error: it cannot be written: "),
        (["record", "tiny.yaml", "--out", "y", "--set", "trace.path=no.swf"], "--set"),
        (["record", "tiny.yaml", "--out", "y", "--set", "trace.jobs=0"], "--set"),
        (["solve", "none", "tiny.yaml", "--out", "s"], "none: error: it cannot be read: "),
        (["solve", "log.swf", "tiny.yaml", "--out", "s"], "log.swf:1: error: expected a gzip file"),
        (["solve", "x", "none.yaml", "--out", "s"], "none.yaml: error: the file cannot be read: "),
        (["solve", "x", str(SMALL), "--out", "s"], "error: the system of small-easy is not that"),
        (["solve", "x", "tiny.yaml", "tiny.yaml", "--out", "s"], "error: two scenarios are called"),
        (["solve", "x", "tiny.yaml", "--out", "log.swf"], "log.swf: error: it cannot be written"),
        (["solve", "x", "tiny.yaml", "--out", "s", "--set", "dispatcher=cart"], "--set"),
        (["compare", "a.parquet", "none"], "none: error: there is no such table"),
        (["compare", "a.parquet", "log.swf"], "log.swf: error: expected a Parquet table"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_faults_of_the_input(arguments, message, tmp_path, capsys):
    """Exit with 1 and one line that says what is wrong."""
    pair(tmp_path)
    assert cli.main([*INSTANCES, "record", "tiny.yaml", "--out", "x"]) == 0
    capsys.readouterr()
    assert cli.main([*INSTANCES, *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(message)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["record", "tiny.yaml"],
        ["record", "tiny.yaml", "--out", "y", "--every", "0"],
        ["record", "tiny.yaml", "--out", "y", "--min-queued", "3", "--max-queued", "2"],
        ["solve", "x", "--out", "s"],
        ["compare", "a.parquet", "b.parquet", "--same-time", "-1"],
    ],
)
def test_usage(arguments):
    """Options that make no sense are usage errors."""
    assert cli.main([*INSTANCES, *arguments]) == 2
